import t from 'tap'
import { jsonLines } from '../../../../src/sandbox/engines/docker/lines.ts'

async function read (...chunks: Array<string | Uint8Array>): Promise<unknown[]> {
  const lines: unknown[] = []
  for await (const line of jsonLines((async function * () { yield * chunks })())) lines.push(line)
  return lines
}

await t.test('lines come out whatever the chunks, even inside a character, and the last needs no newline', async t => {
  const bytes = Buffer.from('{"a":"é"}\r\n\n{"b":2}')
  for (let at = 0; at <= bytes.length; at++) {
    t.same(await read(bytes.subarray(0, at), bytes.subarray(at)), [{ a: 'é' }, { b: 2 }])
  }
})

await t.test('what is no JSON object, or never ends, is a fault of the engine', async t => {
  await t.rejects(read('{"a":1}\nnot json\n'), { code: 'ENGINE_FAULT', message: /not json/ })
  await t.rejects(read('3\n'), { code: 'ENGINE_FAULT' })
  await t.rejects(read('x'.repeat(2 ** 20 + 1)), { code: 'ENGINE_FAULT', message: /does not end/ })
})
