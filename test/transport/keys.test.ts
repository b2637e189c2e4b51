// The key file, the look-up and who may do without keys.
import { createHash } from 'node:crypto'
import t from 'tap'
import { manualClock, systemClock } from '../../src/base/clock.ts'
import { Keyring, isLoopback, loadKeyring, loadKeys, type KeyEntry } from '../../src/transport/keys.ts'

const sha256 = (key: string): string => createHash('sha256').update(key).digest('hex')

function entry (name: string, more: Partial<KeyEntry> = {}): KeyEntry {
  return { name, sha256: sha256(`key of ${name}`), scopes: ['train'], classes: ['train'], splits: ['train'], ...more }
}

t.test('a key file is read, and its keys are found by the key they are the digest of', async t => {
  const dir = t.testdir({ 'keys.json': JSON.stringify([entry('a', { maxEpisodes: 3 }), entry('b', { scopes: ['eval'], splits: ['val'] })]) })
  const config = { host: '0.0.0.0', keysFile: `${dir}/keys.json`, episodesPerKey: 10 }
  const keys = await loadKeyring(config, systemClock)
  t.equal(keys.keyless, false)
  t.same(keys.find('key of a'), { name: 'a', scopes: ['train'], classes: ['train'], splits: ['train'], maxEpisodes: 3 })
  t.match(keys.find('key of b'), { name: 'b', splits: ['val'], maxEpisodes: 10 })
  for (const key of [undefined, '', 'key of c', sha256('key of a')]) t.equal(keys.find(key), undefined)
})

t.test('a key file that is wrong is refused with a sentence for each problem', async t => {
  const cases: Array<[string, string, RegExp]> = [
    ['no JSON', '[', /is not JSON; write an array/],
    ['no array', '{}', /expected array/],
    ['a short digest', JSON.stringify([entry('a', { sha256: 'abc' })]), /64 lower-case hex[^]*\[0\]\.sha256/],
    ['an unknown field', JSON.stringify([{ ...entry('a'), admin: true }]), /"admin"/],
    ['a wrong scope', JSON.stringify([{ ...entry('a'), scopes: ['root'] }]), /\[0\]\.scopes\[0\]/],
    ['no splits', JSON.stringify([{ ...entry('a'), splits: undefined }]), /\[0\]\.splits/],
    ['the same name twice', JSON.stringify([entry('a'), { ...entry('a'), sha256: sha256('other') }]), /same as of entry 0[^]*\[1\]\.name/],
    ['the same key twice', JSON.stringify([entry('a'), { ...entry('b'), sha256: entry('a').sha256 }]), /\[1\]\.sha256/],
  ]
  for (const [title, text, message] of cases) {
    const dir = t.testdir({ 'keys.json': text })
    await t.rejects(loadKeys(`${dir}/keys.json`), { code: 'CONFIG_INVALID', message }, title)
  }
  await t.rejects(loadKeys(`${t.testdirName}/missing.json`), { code: 'CONFIG_INVALID', message: /missing\.json cannot be read; create it/ })
})

t.test('without a key file everybody is admin, on loopback only', async t => {
  const keys = await loadKeyring({ host: '127.0.0.1', keysFile: undefined, episodesPerKey: 5 }, systemClock)
  t.equal(keys.keyless, true)
  t.match(keys.find(undefined), { name: 'loopback', scopes: ['admin'], splits: ['train', 'val'], maxEpisodes: 5 })
  await t.rejects(loadKeyring({ host: '0.0.0.0', keysFile: undefined, episodesPerKey: 5 }, systemClock), {
    code: 'CONFIG_INVALID', message: /"0\.0\.0\.0": set ASSAY_KEYS_FILE, or ASSAY_HOST=127\.0\.0\.1/,
  })
})

t.test('loopback is 127.0.0.0/8, ::1 and localhost, and nothing that only looks alike', async t => {
  for (const host of ['127.0.0.1', '127.8.9.1', '::1', '[::1]', 'localhost', 'LOCALHOST']) t.equal(isLoopback(host), true, host)
  for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.evil.example', '127.0.0.1.evil.example', 'localhost.evil.example', '']) {
    t.equal(isLoopback(host), false, host)
  }
})

t.test('a key with a rate is held to it; others are not', async t => {
  const clock = manualClock()
  const keys = new Keyring([entry('slow', { ratePerMinute: 2 }), entry('free')], { episodesPerKey: 1 }, clock)
  const slow = keys.find('key of slow')
  const free = keys.find('key of free')
  if (slow === undefined || free === undefined) throw new Error('keys not found')
  keys.spend(slow)
  keys.spend(slow)
  t.throws(() => keys.spend(slow), { code: 'RATE_LIMITED', retryAfterMs: 30_000 })
  for (let i = 0; i < 100; i++) keys.spend(free)
  clock.advance(30_000)
  keys.spend(slow)
  t.throws(() => keys.spend(slow), { code: 'RATE_LIMITED' })
})
