import { useEffect, useState } from 'react'
import { read } from '../../api.ts'
import type { Template, TemplateList } from './wire.ts'

/** The maximum time that people wait for templates, in ms. */
const patience = 10_000

/** The firm's templates; undefined until they have arrived. If they do not, people write their own instructions. */
export function useTemplates(): readonly Template[] | undefined {
  const [templates, setTemplates] = useState<readonly Template[]>()
  useEffect(() => {
    const leaving = new AbortController()
    read<TemplateList>('/templates', AbortSignal.any([leaving.signal, AbortSignal.timeout(patience)]))
      .then((list) => setTemplates(list.templates))
      .catch(() => setTemplates([]))
    return () => leaving.abort()
  }, [])
  return templates
}
