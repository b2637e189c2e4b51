// Takes dockerd's framed attach stream apart: 8-byte headers, iterative, with back-pressure both ways.
// Knows nothing of what travels inside.
import { Duplex } from 'node:stream'

export interface DemultiplexOptions {
  /** Bytes of the process's stderr; the duplex carries its stdin and stdout. */
  onStderr?: ((bytes: Uint8Array) => void) | undefined
}

/** A duplex over the attached process's stdin and stdout. It owns the socket: destroying one destroys the other. */
export function demultiplex (socket: Duplex, { onStderr }: DemultiplexOptions = {}): Duplex {
  const parser = createFrameParser()
  const duplex = new Duplex({
    read: () => { socket.resume() },
    write: (chunk: Uint8Array, _encoding, done) => { writeTo(socket, chunk, done) },
    final: done => { socket.end(() => done()) },
    destroy: (error, done) => {
      socket.destroy()
      done(error)
    },
  })
  socket.on('data', (chunk: Uint8Array) => {
    try {
      for (const { stream, bytes } of parser.push(chunk)) {
        if (stream === 'stderr') onStderr?.(bytes)
        else if (!duplex.push(bytes)) socket.pause()
      }
    } catch (error) {
      duplex.destroy(error as Error)
    }
  })
  socket.once('end', () => {
    if (parser.isWhole()) duplex.push(null)
    else duplex.destroy(new StreamFault('the stream ended inside a frame'))
  })
  socket.on('error', error => duplex.destroy(error))
  socket.once('close', () => {
    if (!socket.readableEnded) duplex.destroy(new StreamFault('the connection was closed'))
  })
  return duplex
}

/** The engine's stream broke its own framing or ended early. */
export class StreamFault extends Error {
  override readonly name = 'StreamFault'
}

export interface Payload {
  stream: 'stdout' | 'stderr'
  bytes: Uint8Array
}

export interface FrameParser {
  /** The payloads in chunk, as views of it: a frame larger than a chunk comes out in pieces. Throws StreamFault on a header that cannot be. */
  push (chunk: Uint8Array): Payload[]
  /** Whether the stream may end here: between two frames. */
  isWhole (): boolean
}

export function createFrameParser (): FrameParser {
  const header = Buffer.alloc(HEADER_BYTES)
  let headerFilled = 0
  let bodyLeft = 0
  let stream: Payload['stream'] = 'stdout'
  return {
    push (chunk) {
      const payloads: Payload[] = []
      let at = 0
      while (at < chunk.length) {
        if (bodyLeft > 0) {
          const bytes = chunk.subarray(at, at + bodyLeft)
          payloads.push({ stream, bytes })
          at += bytes.length
          bodyLeft -= bytes.length
          continue
        }
        const part = chunk.subarray(at, at + HEADER_BYTES - headerFilled)
        header.set(part, headerFilled)
        at += part.length
        headerFilled += part.length
        if (headerFilled < HEADER_BYTES) break
        headerFilled = 0
        stream = parseStream(header)
        bodyLeft = header.readUInt32BE(4)
      }
      return payloads
    },
    isWhole: () => headerFilled === 0 && bodyLeft === 0,
  }
}

function parseStream (header: Buffer): Payload['stream'] {
  const kind = header.readUInt8(0)
  if (kind > 2 || header.readUIntBE(1, 3) !== 0) throw new StreamFault('a frame header of the engine is not valid')
  return kind === 2 ? 'stderr' : 'stdout'
}

function writeTo (socket: Duplex, chunk: Uint8Array, done: (error?: Error | null) => void): void {
  if (socket.destroyed) done(new StreamFault('the connection was closed'))
  else socket.write(chunk, done)
}

const HEADER_BYTES = 8
