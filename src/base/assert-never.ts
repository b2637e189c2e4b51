// The default branch of an exhaustive switch.

export function assertNever (value: never): never {
  throw new TypeError(`unexpected value: ${JSON.stringify(value)}`)
}
