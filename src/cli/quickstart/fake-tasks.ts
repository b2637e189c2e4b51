// Where the tasks are that the fake engine's interpreter can solve: it has no Python and no heredocs.
import { fileURLToPath } from 'node:url'

export const FAKE_TASKS = fileURLToPath(new URL('./fake-tasks', import.meta.url))
