import t from 'tap'
import { doctorLines } from '../../../src/cli/commands/doctor.ts'

t.test('what is missing is followed by how to get it, in 100 columns', async t => {
  const lines = doctorLines([
    { name: 'node', ok: true, found: '20.20.2', how: 'install Node' },
    { name: 'docker', ok: false, found: `no answer ${'x'.repeat(300)}`, how: 'apt-get install docker.io' },
    { name: 'live-restore', ok: false, found: 'off', how: 'dockerd --live-restore' },
  ])
  t.ok(lines.slice(0, 5).every(line => line.length <= 100))
  t.match(lines, [/check/, /─/, /node +ok/, /docker +missing +no answer x+…$/, /live-restore +advice +off/])
  t.same(lines.slice(-2), ['docker: apt-get install docker.io', 'live-restore: dockerd --live-restore'])
})

t.test('a machine that lacks nothing is told what to do next', async t => {
  t.match(doctorLines([{ name: 'node', ok: true, found: '20.20.2', how: '' }]).at(-1), /npm run quickstart/)
})
