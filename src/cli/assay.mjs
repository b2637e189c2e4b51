#!/usr/bin/env node
// Starts the command line from a bare clone: checks Node, installs dependencies when they are missing or old, then runs main.ts.
// Plain JavaScript without imports of packages: nothing may be installed yet.
import { spawn } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const LEAST_NODE = [20, 11]

checkNode()
if (needsInstall()) await install()
const { register } = await import('tsx/esm/api')
register()
const { main } = await import('./main.ts')
await main(process.argv.slice(2))

function checkNode () {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])) return
  process.stderr.write(`Assay needs Node ${LEAST_NODE.join('.')} or later; this is ${process.versions.node}.\n`)
  process.exit(1)
}

// npm writes node_modules/.package-lock.json at the end of an install: no such file, no whole install.
function needsInstall () {
  const lock = join(ROOT, 'package-lock.json')
  if (!existsSync(lock)) return false // installed as a package: npm has put the dependencies where they resolve
  const marker = join(ROOT, 'node_modules', '.package-lock.json')
  return !existsSync(marker) || statSync(marker).mtimeMs < statSync(lock).mtimeMs
}

async function install () {
  const startedAt = Date.now()
  process.stderr.write('npm dependencies: npm ci …\n')
  const child = spawn('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
  let signal
  for (const name of ['SIGINT', 'SIGTERM']) {
    process.once(name, () => {
      signal = name
      child.kill(name)
    })
  }
  const code = await new Promise(resolve => {
    child.once('error', error => { process.stderr.write(`npm could not be started: ${error.message}\n`); resolve(1) })
    child.once('close', resolve)
  })
  if (signal !== undefined) process.exit(signal === 'SIGINT' ? 130 : 143)
  if (code !== 0) {
    process.stderr.write('npm ci failed; the lines above say why. Run it by hand, then this command again.\n')
    process.exit(1)
  }
  process.removeAllListeners('SIGINT').removeAllListeners('SIGTERM')
  process.stderr.write(`npm dependencies: installed (${((Date.now() - startedAt) / 1000).toFixed(1)} s)\n`)
}
