// GRPO in twenty lines: a group of rollouts of one task, and the advantage of each over its group.
import { connect, text, type Episode } from '../index.ts'

/** Your model: reads the transcript so far, returns the next shell command, or undefined when it wants to submit. */
export type Model = (transcript: string, episode: Episode) => Promise<string | undefined>

export interface Options { model: Model, size?: number }

/** Advantages of shape [size]; null where there is no reward to learn from. */
export async function collect (url: string, task: string, options: Options): Promise<Array<number | null>> {
  const { model, size = 32 } = options
  await using client = await connect(url)
  await using group = await client.openGroup({ task, size, budgets: { steps: 30 } })
  const { rewards } = await group.run(async episode => {
    let transcript = episode.instruction
    while (!episode.isDone) {
      const command = await model(transcript, episode)
      if (command === undefined) break
      const { stdout, stderr } = await episode.step(command)
      transcript += `\n$ ${command}\n${text(stdout)}${text(stderr)}`
    }
  })
  const known = rewards.filter(reward => reward !== null)
  const mean = known.reduce<number>((sum, reward) => sum + reward, 0) / known.length
  const deviation = Math.sqrt(known.reduce<number>((sum, reward) => sum + (reward - mean) ** 2, 0) / known.length)
  return rewards.map(reward => reward === null ? null : (reward - mean) / (deviation + 1e-6))
}
