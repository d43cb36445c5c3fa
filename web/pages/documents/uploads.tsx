import { ActionIcon, Button, VisuallyHidden } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { sizeText } from '../../size.ts'
import { counted } from '../../words.ts'
import classes from './documents.module.css'
import { dismissUpload, retryUpload, type Uploading } from './uploading.ts'

/** The files on their way, with their progress, and those that failed. */
export function Uploads({ uploads }: { readonly uploads: readonly Uploading[] }) {
  const shown = uploads.filter(({ state }) => state !== 'done')
  const done = uploads.length - shown.length
  return (
    <>
      <VisuallyHidden aria-live="polite">{done > 0 && `${counted(done, 'file')} uploaded`}</VisuallyHidden>
      {shown.length > 0 && (
        <ul className={classes.uploads} aria-label="Uploads">
          {shown.map((upload) => (
            <Row key={upload.key} upload={upload} />
          ))}
        </ul>
      )}
    </>
  )
}

function Row({ upload: { key, name, bytes, sent, state, reason } }: { readonly upload: Uploading }) {
  return (
    <li className={classes.upload} data-failed={state === 'failed' || undefined}>
      <span className={classes.name}>{name}</span>
      <span className={classes.size}>
        {state === 'sending' ? `${sizeText(sent)} of ${sizeText(bytes)}` : sizeText(bytes)}
      </span>
      {state === 'failed' ? (
        <p className={classes.reason} role="alert">
          <span>{reason}</span>
          <Button variant="default" size="compact-xs" onClick={() => retryUpload(key)}>
            Try again
          </Button>
          <ActionIcon size="sm" aria-label={`Dismiss ${name}`} onClick={() => dismissUpload(key)}>
            <IconX size={14} />
          </ActionIcon>
        </p>
      ) : (
        <progress className={classes.progress} value={sent} max={Math.max(bytes, 1)} aria-label={`Upload of ${name}`} />
      )}
    </li>
  )
}
