import { notifications } from '@mantine/notifications'
import { useState } from 'react'
import type { ClientRecord } from '../../../src/clients/schema.ts'
import { download } from '../../api.ts'
import { notifyFailure } from '../../components/notify.ts'

/** Exports a client as a file, and says how far that is. */
export function useExport({ id, name }: Pick<ClientRecord, 'id' | 'name'>) {
  const [busy, setBusy] = useState(false)
  async function exportClient() {
    setBusy(true)
    const shown = notifications.show({
      loading: true,
      message: `Preparing the export of ${name}…`,
      autoClose: false,
      withCloseButton: false,
    })
    try {
      await download(`/clients/${id}/export`)
      notifications.update({ id: shown, loading: false, message: `${name} was exported.`, autoClose: 4000 })
    } catch (error) {
      notifications.hide(shown)
      notifyFailure('The client was not exported', error)
    }
    setBusy(false)
  }
  return { busy, exportClient: () => void exportClient() }
}
