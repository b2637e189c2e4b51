// A stack of things to release, last in first out (Node 20 has no AsyncDisposableStack).

type Release = () => unknown

export class Scope implements AsyncDisposable {
  #releases: Release[] = []
  #closing: Promise<void> | undefined

  /** Takes charge of a resource; after close it is released at once. Returns the resource. */
  async add<T extends AsyncDisposable | Disposable> (resource: T): Promise<T> {
    await this.defer(() => Symbol.asyncDispose in resource
      ? resource[Symbol.asyncDispose]()
      : resource[Symbol.dispose]())
    return resource
  }

  /** Registers a release function; after close it is run at once. */
  async defer (release: Release): Promise<void> {
    if (this.#closing === undefined) this.#releases.push(release)
    else await release()
  }

  /** Releases everything, even when some releases fail; then throws the first failure. Idempotent. */
  async close (): Promise<void> {
    this.#closing ??= this.#run()
    await this.#closing
  }

  async [Symbol.asyncDispose] (): Promise<void> {
    await this.close()
  }

  async #run (): Promise<void> {
    const failures: unknown[] = []
    for (const release of this.#releases.splice(0).reverse()) {
      try {
        await release()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
