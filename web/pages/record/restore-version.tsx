import { Button } from '@mantine/core'
import { useState } from 'react'
import { useRevalidator } from 'react-router'
import { ApiError, change } from '../../api.ts'
import { confirm } from '../../components/confirm.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { hasUnsaved } from '../../unsaved.ts'
import { bodyOf, sentBody, valuesOf, type Field } from '../../fields.ts'
import classes from './revisions.module.css'

/** The record that a version can be restored to. */
export interface Restoring {
  readonly address: string
  /** The fields that a version restores. */
  readonly fields: readonly Field[]
  /** The record as it is now. */
  readonly current: { readonly version: number }
}

interface RestoreVersionProps {
  readonly restoring: Restoring
  readonly version: number
  /** The values of the version. */
  readonly data: Readonly<Record<string, unknown>>
}

/** Writes the values of an older version again, as a new version. Nothing if they are those of now. */
export function RestoreVersion({ restoring: { address, fields, current }, version, data }: RestoreVersionProps) {
  const { revalidate } = useRevalidator()
  const [busy, setBusy] = useState(false)
  const body = sentBody(fields, bodyOf(fields, valuesOf(fields, data), valuesOf(fields, current)))
  if (Object.keys(body).length === 0) return null

  async function restore() {
    const sure =
      !hasUnsaved() ||
      (await confirm({
        title: `Restore version ${version}?`,
        text: 'You have unsaved changes. They stay in the form. When you save them, you can compare both.',
        action: 'Restore version',
      }))
    if (!sure) return
    setBusy(true)
    try {
      await change(address, { method: 'PATCH', body, version: current.version })
      notifyDone(`Version ${version} was restored.`)
      await revalidate()
    } catch (error) {
      notifyFailure('The version was not restored', error)
      if (error instanceof ApiError && error.status > 0) await revalidate()
    } finally {
      setBusy(false)
    }
  }

  return (
    <Button
      className={classes.restore}
      variant="subtle"
      size="compact-xs"
      loading={busy}
      aria-label={`Restore this version: ${version}`}
      onClick={() => void restore()}
    >
      Restore this version
    </Button>
  )
}
