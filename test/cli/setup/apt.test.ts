import t from 'tap'
import { aptCommands, installPackages } from '../../../src/cli/setup/apt.ts'

await t.test('the commands can be typed as they stand', t => {
  t.same(aptCommands(['docker.io', 'iptables']), ['  sudo apt-get update', '  sudo apt-get install -y docker.io iptables'])
  t.end()
})

await t.test('an install that is given up before it begins says nothing and does nothing', async t => {
  const said: string[] = []
  const signal = AbortSignal.abort(new Error('Ctrl-C'))
  await t.rejects(installPackages({ packages: ['no-such-package'], what: 'Nothing', say: line => said.push(line), signal }))
  t.same(said, [])
})
