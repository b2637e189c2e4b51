// CRC-32 as zlib and Ethernet have it; Node's own is used where there is one (20.15 and later).
import zlib from 'node:zlib'

export function crc32 (bytes: Uint8Array): number {
  return typeof zlib.crc32 === 'function' ? zlib.crc32(bytes) : plainCrc32(bytes)
}

export function plainCrc32 (bytes: Uint8Array): number {
  let crc = -1
  for (let at = 0; at < bytes.length; at++) crc = (crc >>> 8) ^ (TABLE[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0)
  return ~crc >>> 0
}

const TABLE = Int32Array.from({ length: 256 }, (_, index) => {
  let crc = index
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ ((crc & 1) === 1 ? 0xEDB88320 : 0)
  return crc
})
