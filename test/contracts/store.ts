// What every Store must keep: atomic claims, last write wins, time to live.
import type { Test } from 'tap'
import type { EpisodeRecord, GroupRecord } from '../../src/store/records.ts'
import type { Store } from '../../src/store/store.ts'

export interface StoreUnderTest {
  store: Store
  /** Lets at least this much time pass for the store. */
  pass (ms: number): Promise<void>
}

const episode: EpisodeRecord = { version: 1, id: 'ep_n1_a', node: 'n1', principal: 'p', task: 'a', attempt: 0, state: 'ready', updatedAt: 1 }
const group: GroupRecord = { version: 1, id: 'gr_n1_a', node: 'n1', principal: 'p', task: 'a', size: 2, state: 'open', updatedAt: 1 }

export async function storeContract (t: Test, create: () => Promise<StoreUnderTest>): Promise<void> {
  await t.test('a claim is given to one, told to others, and free again after its time', async t => {
    const { store, pass } = await create()
    const claims = await Promise.all(['a', 'b', 'c'].map(async value => await store.claim('key', value, { ttlMs: 1000 })))
    t.equal(new Set(claims).size, 1)
    const [holder = ''] = claims
    t.equal(await store.claim('other', 'z', { ttlMs: 1000 }), 'z')
    t.equal(await store.claim('key', holder, { ttlMs: 3000 }), holder, 'the holder renews')
    await pass(2000)
    t.equal(await store.claim('key', 'late', { ttlMs: 1000 }), holder)
    await pass(1500)
    t.equal(await store.claim('key', 'late', { ttlMs: 1000 }), 'late')
    await store.close()
  })

  await t.test('records are found as they were written last, and are copies', async t => {
    const { store } = await create()
    const own = { ...episode }
    await store.putEpisode(own)
    own.state = 'changed by the caller'
    t.same(await store.findEpisode(episode.id), episode)
    await store.putEpisode({ ...episode, state: 'done', updatedAt: 2 })
    t.equal((await store.findEpisode(episode.id))?.state, 'done')
    await store.putGroup(group)
    t.same(await store.findGroup(group.id), group)
    t.equal(await store.findEpisode('ep_n1_none'), undefined)
    t.equal(await store.findGroup('gr_n1_none'), undefined)
    await store.close()
  })

  await t.test('a node lives as long as its heart beats', async t => {
    const { store, pass } = await create()
    const node = { version: 1, id: 'n1', boot: 'b1', startedAt: 5 } as const
    await store.heartbeat(node, { ttlMs: 1000 })
    await store.heartbeat({ ...node, id: 'n2' }, { ttlMs: 3000 })
    t.same((await store.liveNodes()).map(({ id }) => id).sort(), ['n1', 'n2'])
    await pass(1500)
    t.same((await store.liveNodes()).map(({ id }) => id), ['n2'])
    await store.heartbeat({ ...node, boot: 'b2' }, { ttlMs: 1000 })
    t.equal((await store.liveNodes()).find(({ id }) => id === 'n1')?.boot, 'b2')
    await store.close()
  })
}
