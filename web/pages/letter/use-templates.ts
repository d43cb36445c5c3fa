import { useEffect, useState } from 'react'
import { read } from '../../api.ts'
import type { Template, TemplateList } from './wire.ts'

/** The firm's templates; none until they have arrived. Without them, people write their own instructions. */
export function useTemplates(): readonly Template[] {
  const [templates, setTemplates] = useState<readonly Template[]>([])
  useEffect(() => {
    const leaving = new AbortController()
    read<TemplateList>('/templates', leaving.signal)
      .then((list) => setTemplates(list.templates))
      .catch(() => undefined)
    return () => leaving.abort()
  }, [])
  return templates
}
