import type { ModelConfig } from '../../platform/config/config.ts'

/** Models of the ledger whose usage the vendor counts together. */
export interface ModelGroup {
  /** The vendor's name, or that of all its snapshots. */
  readonly name: string
  /** Ids of models. */
  readonly models: readonly string[]
  /** Where they are called: models that are called at the same place are in the same export. */
  readonly places: readonly string[]
}

export interface ModelGroups {
  readonly groups: readonly ModelGroup[]
  /** The group of a name in an export. */
  of(this: void, name: string): ModelGroup | undefined
}

/** `gpt-4o-2024-08-06`, `claude-sonnet-4-20250514`, `claude@20250514`, `gpt-3.5-turbo-0125` and `gemini-1.5-pro-002` without the end. */
const snapshot = /(?:[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|00\d)|-latest)$/

/**
 * Groups the models of upstreams by the name that the upstream uses. A name without a date stands for a snapshot that only the vendor knows,
 * so all models with the same name but for the date are one group if one of them is configured without it; otherwise each is a group.
 * `named` adds names of exports, each with the id of its model, which need not be configured any more.
 */
export function groupModels(
  models: readonly ModelConfig[],
  named: ReadonlyMap<string, string> = new Map(),
): ModelGroups {
  const upstream = models.flatMap((model) => (model.engine === 'local' ? [] : [model]))
  const groups = new Map<string, ModelGroup>()
  const byName = new Map<string, ModelGroup>()
  const families = Map.groupBy(upstream, ({ upstream_model: name }) => name.replace(snapshot, ''))
  for (const [family, members] of families) {
    const isOpen = members.some(({ upstream_model: name }) => name === family || name.endsWith('-latest'))
    for (const [name, same] of isOpen
      ? [[family, members] as const]
      : Map.groupBy(members, (each) => each.upstream_model)) {
      const group = { name, models: same.map(({ id }) => id), places: same.flatMap(placesOf) }
      groups.set(name, group)
      for (const each of same) byName.set(each.upstream_model, group)
    }
  }
  for (const [name, id] of named) {
    const known = [...groups.values()].find((group) => group.models.includes(id))
    const group = known ?? { name: id, models: [id], places: [] }
    groups.set(group.name, group)
    byName.set(name, group)
  }
  return {
    groups: [...groups.values()],
    of: (name) => byName.get(name) ?? openGroup(groups, name),
  }
}

/** The group of a snapshot, or the only one of a name without a date. */
function openGroup(groups: ReadonlyMap<string, ModelGroup>, name: string): ModelGroup | undefined {
  const family = name.replace(snapshot, '')
  const open = groups.get(family)
  if (open !== undefined || name !== family) return open
  const [only, ...others] = [...groups.values()].filter((group) => group.name.replace(snapshot, '') === family)
  return others.length === 0 ? only : undefined
}

function placesOf(model: Exclude<ModelConfig, { engine: 'local' }>): string[] {
  if (model.engine === 'openai') return model.endpoints.map(({ url }) => new URL(url).host)
  return [model.url === undefined ? model.package : new URL(model.url).host]
}
