import t from 'tap'
import { isLive, nextState, type EpisodeEvent } from '../../src/episodes/state.ts'
import { EpisodeState } from '../../src/protocol/index.ts'

const EVENTS: EpisodeEvent[] = [
  { type: 'admitted' }, { type: 'sandboxReady' }, { type: 'stepStarted' }, { type: 'stepEnded' }, { type: 'submitted' },
  { type: 'verified' }, { type: 'forfeited' }, { type: 'voided', reason: 'cancelled' }, { type: 'closed' },
]

/** Every pair that is not here is impossible. */
const LEGAL: Record<string, EpisodeState> = {
  'queued admitted': 'starting',
  'queued voided': 'void',
  'starting sandboxReady': 'ready',
  'starting voided': 'void',
  'ready stepStarted': 'busy',
  'ready submitted': 'verifying',
  'ready forfeited': 'done',
  'ready voided': 'void',
  'busy stepEnded': 'ready',
  'busy voided': 'void',
  'verifying verified': 'done',
  'verifying voided': 'void',
  'done closed': 'closed',
  'void closed': 'closed',
}

for (const state of EpisodeState.options) {
  for (const event of EVENTS) {
    const expected = LEGAL[`${state} ${event.type}`]
    t.test(`${event.type} in ${state} ${expected === undefined ? 'cannot happen' : `leads to ${expected}`}`, async t => {
      t.equal(nextState(state, event), expected)
    })
  }
}

t.test('an episode lives until it is done, void or closed', async t => {
  t.same(EpisodeState.options.filter(isLive), ['queued', 'starting', 'ready', 'busy', 'verifying'])
})

t.test('no event leads from an end back to life', async t => {
  for (const state of EpisodeState.options.filter(one => !isLive(one))) {
    t.same(EVENTS.map(event => nextState(state, event)).filter(next => next !== undefined && isLive(next)), [])
  }
})
