// The protocol's version and the names of its WebSocket subprotocols.

export const PROTOCOL_VERSION = 'assay.v1'
export const SUBPROTOCOLS = { 'assay.v1.msgpack': 'msgpack', 'assay.v1.json': 'json' } as const

export type Subprotocol = keyof typeof SUBPROTOCOLS
export type Encoding = (typeof SUBPROTOCOLS)[Subprotocol]

export function isSubprotocol (name: string): name is Subprotocol {
  return Object.hasOwn(SUBPROTOCOLS, name)
}
