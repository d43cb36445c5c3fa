import { Button } from '@mantine/core'
import { IconArchiveOff } from '@tabler/icons-react'
import { useState } from 'react'
import { useRevalidator } from 'react-router'
import { ApiError, change } from '../../api.ts'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { nouns } from '../../fields.ts'
import type { Item, ItemNoun } from './items.tsx'
import { useRecord } from './use-record.ts'

/** Returns an archived item to its record; nothing for a client that is archived itself. */
export function RestoreButton({ noun, item }: { readonly noun: ItemNoun; readonly item: Item }) {
  const { id, status } = useRecord()
  const { revalidate } = useRevalidator()
  const [busy, setBusy] = useState(false)
  const { one, path } = nouns[noun]
  if (status === 'archived') return null

  async function restore() {
    setBusy(true)
    try {
      await change(`/clients/${id}/${path}/${item.id}/restore`, { method: 'POST', version: item.version })
      notifyDone(`The ${one} was restored.`)
      await revalidate()
    } catch (error) {
      notifyFailure(`The ${one} was not restored`, error)
      if (error instanceof ApiError && error.status > 0) await revalidate()
    } finally {
      setBusy(false)
    }
  }

  return (
    <Button
      variant="default"
      size="compact-sm"
      leftSection={<IconArchiveOff size={15} aria-hidden />}
      loading={busy}
      onClick={() => void restore()}
    >
      Restore
    </Button>
  )
}
