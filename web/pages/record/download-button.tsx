import { Button } from '@mantine/core'
import { download } from '../../api.ts'
import { notifyFailure } from '../../components/notify.ts'
import classes from './revisions.module.css'

interface DownloadButtonProps {
  readonly address: string
  readonly version: number
}

/** Saves the file of a version of a document. */
export function DownloadButton({ address, version }: DownloadButtonProps) {
  return (
    <Button
      className={classes.restore}
      variant="subtle"
      size="compact-xs"
      aria-label={`Download this version: ${version}`}
      onClick={() => void saveFile(address)}
    >
      Download
    </Button>
  )
}

/** Says so if it fails. */
export async function saveFile(address: string): Promise<void> {
  await download(address).catch((error: unknown) => notifyFailure('The file was not downloaded', error))
}
