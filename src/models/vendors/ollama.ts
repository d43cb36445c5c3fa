import { at, entriesOf } from '../../platform/text/json.ts'
import { least, type Findings } from '../reported/reported-model.ts'

/** `POST /api/show`, for one model; undefined if the body is something else. Its list has only names. */
export function readOllama(body: unknown): Findings | undefined {
  const listed = at(body, 'capabilities')
  if (!Array.isArray(listed)) return undefined
  const [, trained] = entriesOf(at(body, 'model_info')).find(([name]) => name.endsWith('.context_length')) ?? []
  const settings = at(body, 'parameters')
  const own = typeof settings === 'string' ? /^\s*num_ctx\s+(\d+)\s*$/m.exec(settings)?.[1] : undefined
  return {
    can: { tools: listed.includes('tools'), images: listed.includes('vision'), reasoning: listed.includes('thinking') },
    context: least(Number(own)),
    trainedContext: least(trained),
    writesText: listed.includes('completion'),
  }
}
