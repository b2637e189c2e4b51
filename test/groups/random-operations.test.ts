// Thousands of seeded operations over faulty sandboxes: after each one every balance is recounted from the episodes themselves.
import t from 'tap'
import { isAssayError } from '../../src/errors.ts'
import type { EpisodeId, GroupId, Lease, Result } from '../../src/protocol/index.ts'
import { metric, startService, type Caller, type ServiceUnderTest } from '../helpers/service.ts'

interface KnownEpisode { episode: EpisodeId, lease: Lease, seq: number }
interface KnownGroup { group: GroupId, size: number }

const SEEDS = [1, 2, 3]
const OPERATIONS = 1000

for (const seed of SEEDS) {
  t.test(`seed ${seed}: the balance is exact after each of ${OPERATIONS} operations, and nothing is left over`, async t => {
    const faults = { create: 0.05, loss: 0.05, seed }
    await using app = await startService({ engine: { faults }, config: { maxPlaces: 24, leaseIdleMs: 5000 } })
    const world = new World(app, seed)
    let problem: string | undefined
    for (let turn = 0; turn < OPERATIONS && problem === undefined; turn++) {
      world.act()
      if (turn % 3 === 0) await new Promise(resolve => setImmediate(resolve))
      problem = await world.check()
    }
    t.equal(problem, undefined)
    t.same(world.bugs, [])
    t.ok(world.verdicts > 50, `${world.verdicts} verdicts`)
    await world.end()
    await app.settled()
    t.ok(world.compared > OPERATIONS / 2, `${world.compared} comparisons with the gauge`)
    t.equal(await metric(app.metrics, 'assay_members', { term: 'live' }), 0)
    t.equal(await metric(app.metrics, 'assay_queue_length'), 0)
    t.equal(await metric(app.metrics, 'assay_places_free'), 24)
  })
}

function findImbalance ({ balance, attempts, rewards, usable, size }: Result<'group.get'>): string | undefined {
  for (const one of [balance, attempts]) {
    if (one.requested !== one.solved + one.unsolved + one.void + one.live) return `does not add up: ${JSON.stringify(one)}`
  }
  if (balance.requested !== size) return `${size} members, ${balance.requested} in the balance`
  if (rewards.filter(reward => reward === 1).length !== balance.solved) return 'rewards of 1 do not match the balance'
  if (rewards.filter(reward => reward === 0).length !== balance.unsolved) return 'rewards of 0 do not match the balance'
  return usable.every((one, index) => one === (rewards[index] !== null)) ? undefined : 'usable does not match the rewards'
}

const TERMS = ['requested', 'solved', 'unsolved', 'void', 'live'] as const

class World {
  readonly bugs: string[] = []
  /** How often groups and gauge could be compared. */
  compared = 0
  verdicts = 0
  #app: ServiceUnderTest
  #caller: Caller
  #observer: Caller
  #groups: KnownGroup[] = []
  #episodes: KnownEpisode[] = []
  #state: number

  constructor (app: ServiceUnderTest, seed: number) {
    this.#app = app
    this.#state = seed
    this.#caller = app.connect()
    this.#observer = app.connect({}, { http: true })
  }

  act (): void {
    const choice = this.#dice(100)
    if (choice < 4) this.#open()
    else if (choice < 40) this.#reset()
    else if (choice < 60) this.#step()
    else if (choice < 85) this.#submit()
    else if (choice < 88) this.#with(this.#episodes, ({ episode, lease }) => this.#caller.call('close', { episode, lease }))
    else if (choice < 94) this.#with(this.#groups, ({ group }) => this.#caller.call('group.close', { group, abort: this.#dice(2) === 0 }))
    else if (choice < 97) this.#app.clock.advance(this.#dice(2000))
    else if (choice < 98) {
      this.#caller.leave()
      this.#caller = this.#app.connect()
    } else this.#with(this.#episodes, one => this.#caller.call('resume', { episode: one.episode, lease: one.lease }).then(({ lease }) => { one.lease = lease }))
  }

  /** What is wrong at this moment; undefined when everything adds up. */
  async check (): Promise<string | undefined> {
    const before = await this.#gauge()
    const reports = await Promise.all(this.#groups.map(({ group }) => this.#observer.call('group.get', { group })))
    const after = await this.#gauge()
    const wrong = reports.map(findImbalance).find(problem => problem !== undefined)
    if (wrong !== undefined) return wrong
    if (JSON.stringify(before) === JSON.stringify(after)) { // nothing moved meanwhile, so that the sums can be compared
      this.compared++
      const sums = TERMS.map(term => reports.reduce((sum, { balance }) => sum + balance[term], 0))
      if (JSON.stringify(sums) !== JSON.stringify(after)) return `the gauge shows ${after.join()} and the groups ${sums.join()}`
    }
    return await this.#recount(reports)
  }

  async end (): Promise<void> {
    await Promise.all(this.#groups.map(({ group }) => this.#observer.call('group.close', { group, abort: true })))
  }

  /** Every member's newest attempt, asked from the episode itself in the turn in which the group is asked. */
  async #recount (reports: Array<Result<'group.get'>>): Promise<string | undefined> {
    for (const { group, members } of reports.filter(({ balance }) => balance.live > 0 || this.#dice(20) === 0)) {
      const [now, ...statuses] = await Promise.all([
        this.#observer.call('group.get', { group }),
        ...members.flatMap(({ episode }) => episode === undefined ? [] : [this.#observer.call('status', { episode })]),
      ])
      for (const { episode, member = -1, verdict } of statuses) {
        const shown = now.members[member]
        if (shown?.episode !== episode) continue // a newer attempt has started
        const expected = verdict === undefined ? ['live'] : verdict.outcome === 'void' ? ['void', 'refillable'] : [verdict.outcome]
        if (!expected.includes(shown.state)) return `member ${member} is ${shown.state}, its episode ${verdict?.outcome}`
      }
    }
    return undefined
  }

  async #gauge (): Promise<number[]> {
    return await Promise.all(TERMS.map(async term => await metric(this.#app.metrics, 'assay_members', { term })))
  }

  #open (): void {
    if (this.#groups.length >= 120) return
    const size = 1 + this.#dice(8)
    this.#try(this.#caller.call('group.open', {
      task: 'answer', size, concurrency: 1 + this.#dice(size), refills: this.#dice(3), budgets: this.#dice(3) === 0 ? { steps: 2 } : undefined,
    }).then(({ group }) => { this.#groups.push({ group, size }) }))
  }

  #reset (): void {
    this.#with(this.#groups.slice(-10), ({ group, size }) => this.#caller.call('reset', { group, member: this.#dice(size), attempt: Math.max(0, this.#dice(6) - 3) }).then(({ episode, lease, committed }) => {
      const known = this.#episodes.find(one => one.episode === episode)
      if (known === undefined) this.#episodes.push({ episode, lease, seq: committed + 1 })
      else known.lease = lease
    }))
  }

  #step (): void {
    const command = ['true', 'write answer.txt 42', 'write answer.txt void', 'sleep 3', 'fail-sandbox inside', 'exit 1'][this.#dice(6)] ?? 'true'
    this.#with(this.#episodes, one => this.#caller.call('step', { ...this.#request(one), action: { type: 'exec', command } }).then(({ committed }) => { one.seq = committed + 1 }))
  }

  #submit (): void {
    this.#with(this.#episodes, one => this.#caller.call('submit', this.#request(one)).then(() => {
      this.verdicts++
      this.#episodes = this.#episodes.filter(other => other !== one)
    }))
  }

  #request ({ episode, lease, seq }: KnownEpisode): KnownEpisode {
    return { episode, lease, seq: this.#dice(10) === 0 ? seq + 1 : seq }
  }

  #with<T> (list: T[], act: (one: T) => Promise<unknown>): void {
    const one = list[this.#dice(Math.max(1, list.length))]
    if (one !== undefined) this.#try(act(one))
  }

  #try (promise: Promise<unknown>): void {
    promise.catch((error: unknown) => {
      if (!isAssayError(error) && !String(error).includes('the caller left')) this.bugs.push(error instanceof Error ? error.stack ?? '' : String(error))
    })
  }

  #dice (n: number): number {
    this.#state = (this.#state * 1103515245 + 12345) % 2 ** 31
    return Math.floor(this.#state / 65536) % n
  }
}
