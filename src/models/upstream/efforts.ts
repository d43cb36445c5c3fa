import type { Effort, Reasoning } from '../conversation.ts'

/** Efforts and budgets of tokens, for models that take only one of the two. A budget up to `most` is that effort. */
const budgets = [
  { effort: 'low', most: 4999, budget: 4000 },
  { effort: 'medium', most: 15_999, budget: 10_000 },
  { effort: 'high', most: Number.POSITIVE_INFINITY, budget: 24_000 },
] as const

/** The effort, that of the budget if there is none. Undefined: as the model does by itself. */
export function effortOf({ effort, budgetTokens }: Reasoning): Effort | undefined {
  if (effort !== undefined || budgetTokens === undefined) return effort
  return budgets.find(({ most }) => budgetTokens <= most)?.effort
}

/** The effort in OpenAI's words, which have `xhigh` for `max`. */
export function openAiEffort(reasoning: Reasoning): Exclude<Effort, 'max'> | undefined {
  const effort = effortOf(reasoning)
  return effort === 'max' ? 'xhigh' : effort
}

/** The budget of an effort in tokens; `none` has none. */
export function budgetOf(effort: Effort): number | undefined {
  const known = effort === 'minimal' ? 'low' : effort === 'xhigh' || effort === 'max' ? 'high' : effort
  return budgets.find((each) => each.effort === known)?.budget
}
