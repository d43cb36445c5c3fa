import { Button } from '@mantine/core'
import { lazy, Suspense, useEffect, useState } from 'react'
import type { Document } from '../../../src/clients/schema.ts'
import { readBytes, reasonOf } from '../../api.ts'
import classes from './documents.module.css'
import { Picture } from './picture.tsx'

const PdfPages = lazy(async () => ({ default: (await import('./pdf-pages.tsx')).PdfPages }))

interface PreviewProps {
  /** The URL of the file. */
  readonly address: string
  readonly document: Pick<Document, 'name' | 'type' | 'bytes'>
}

/** Files up to this size are fetched to show them without being asked. */
const shownAtOnce = 10_000_000

/** What browsers can draw. */
const pictures: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp']

/**
 * A picture or the pages of a PDF, drawn on a canvas: nothing of the file becomes a part of the page, and no script in it runs. Nothing for
 * other files.
 */
export function Preview({ address, document }: PreviewProps) {
  const { type, bytes } = document
  const [isOpen, setIsOpen] = useState(bytes <= shownAtOnce)
  if (bytes === 0 || !(pictures.includes(type) || type === 'application/pdf')) return null
  return (
    <section className={classes.preview} aria-label="Preview">
      {isOpen ? (
        <Fetched address={address} document={document} />
      ) : (
        <Button variant="default" onClick={() => setIsOpen(true)}>
          Show a preview
        </Button>
      )}
    </section>
  )
}

function Fetched({ address, document: { name, type } }: PreviewProps) {
  const [file, setFile] = useState<Blob>()
  const [failure, setFailure] = useState<string>()
  useEffect(() => {
    const left = new AbortController()
    readBytes(address, left.signal)
      .then(setFile)
      .catch((error: unknown) => {
        if (!left.signal.aborted) setFailure(reasonOf(error))
      })
    return () => left.abort()
  }, [address])
  if (failure !== undefined) return <p className={classes.note}>{`There is no preview: ${failure}`}</p>
  if (!file) return <p className={classes.note}>Loading the preview…</p>
  if (type !== 'application/pdf') return <Picture file={file} name={name} />
  return (
    <Suspense fallback={<p className={classes.note}>Loading the preview…</p>}>
      <PdfPages file={file} name={name} />
    </Suspense>
  )
}
