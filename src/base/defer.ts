// A promise with its resolvers outside (Node 20 has no Promise.withResolvers).

export interface Deferred<T> {
  readonly promise: Promise<T>
  resolve (value: T): void
  reject (reason: unknown): void
}

export function defer<T> (): Deferred<T> {
  let resolve: (value: T) => void = () => {}
  let reject: (reason: unknown) => void = () => {}
  const promise = new Promise<T>((_resolve, _reject) => {
    resolve = _resolve
    reject = _reject
  })
  return { promise, resolve, reject }
}
