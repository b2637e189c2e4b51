// Which keys of Harbor's task.toml mean something here; whatever does not is named, never passed over in silence.

export interface FormatWarning {
  file: string
  /** Dotted, e.g. "environment.mcp_servers". */
  key: string
  message: string
}

/** Pure: a warning for each key that is unknown or asks for something that this server does not do. */
export function findWarnings (toml: Record<string, unknown>): FormatWarning[] {
  const warnings = warnTable('', toml)
  for (const table of Object.keys(TABLES)) {
    const value = toml[table]
    if (table !== '' && isTable(value)) warnings.push(...warnTable(table, value))
  }
  return warnings
}

function warnTable (table: string, value: Record<string, unknown>): FormatWarning[] {
  const known = TABLES[table] ?? {}
  return Object.keys(value).flatMap(key => {
    const dotted = table === '' ? key : `${table}.${key}`
    const meaning = Object.hasOwn(known, key) ? known[key] : 'is not a key of this format and has no effect; check its spelling.'
    if (meaning === USED || meaning === undefined || isHarmless(dotted, value[key])) return []
    return [{ file: 'task.toml', key: dotted, message: `${dotted} ${meaning}` }]
  })
}

// sandboxes have no network anyway, so a task that asks for none loses nothing
function isHarmless (dotted: string, value: unknown): boolean {
  return (dotted === 'environment.allow_internet' && value === false) ||
    (dotted === 'environment.network_mode' && value === 'no-network') ||
    (dotted === 'environment.os' && value === 'linux')
}

function isTable (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const USED = ''
const BY_CLIENT = 'is not enforced by this server: the client bounds its attempts with budgets.'
const NO_NETWORK = 'asks for a network; sandboxes here have none.'
const NOT_DONE = 'is not supported and has no effect.'
const ABOUT = USED // facts for people

const TABLES: Record<string, Record<string, string>> = {
  '': {
    schema_version: ABOUT,
    version: ABOUT,
    source: ABOUT,
    task: USED,
    metadata: USED,
    agent: USED,
    verifier: USED,
    environment: USED,
    artifacts: 'is not supported: artifacts are not collected.',
    multi_step_reward_strategy: NOT_DONE,
    solution: 'is not supported: solution scripts are not run.',
  },
  task: { name: USED, description: ABOUT, version: ABOUT, authors: ABOUT, keywords: ABOUT },
  agent: { user: USED, timeout_sec: BY_CLIENT, network_mode: NO_NETWORK, allowed_hosts: NO_NETWORK },
  verifier: {
    timeout_sec: USED,
    env: 'is not supported for driver tasks.',
    user: 'is not supported for driver tasks: submitted code runs as the agent\'s user.',
    network_mode: NO_NETWORK,
    allowed_hosts: NO_NETWORK,
    environment_mode: 'has no effect: a driver task is always verified in a sandbox of its own.',
    environment: NOT_DONE,
    collect: NOT_DONE,
  },
  environment: {
    docker_image: USED,
    cpus: USED,
    memory_mb: USED,
    storage_mb: USED,
    env: USED,
    workdir: USED,
    build_timeout_sec: 'has no effect: the engine bounds image builds.',
    allow_internet: NO_NETWORK,
    network_mode: NO_NETWORK,
    allowed_hosts: NO_NETWORK,
    mcp_servers: 'is not supported: no MCP server is started.',
    healthcheck: NOT_DONE,
    skills_dir: NOT_DONE,
    gpus: 'is not supported: sandboxes have no GPU.',
    gpu_types: 'is not supported: sandboxes have no GPU.',
    tpu: 'is not supported: sandboxes have no TPU.',
    os: 'other than "linux" is not supported.',
    memory: 'is deprecated and has no effect; use memory_mb.',
    storage: 'is deprecated and has no effect; use storage_mb.',
  },
}
