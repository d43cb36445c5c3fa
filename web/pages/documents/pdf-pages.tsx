import { ActionIcon } from '@mantine/core'
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { getDocumentProxy } from 'unpdf'
import classes from './documents.module.css'

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>

/** The pages of a PDF, one at a time, drawn on a canvas. Scripts, links and forms in it do nothing. */
export function PdfPages({ file, name }: { readonly file: Blob; readonly name: string }) {
  const [pdf, setPdf] = useState<Pdf>()
  const [failure, setFailure] = useState<string>()
  const [number, setNumber] = useState(1)
  useEffect(() => {
    let opened: Promise<Pdf> | undefined
    void (async () => {
      try {
        opened = getDocumentProxy(new Uint8Array(await file.arrayBuffer()))
        setPdf(await opened)
      } catch (error) {
        setFailure(failureOf(error))
      }
    })()
    return () => {
      opened?.then(({ loadingTask }) => loadingTask.destroy()).catch(() => undefined)
    }
  }, [file])
  if (failure !== undefined) return <p className={classes.note}>{`There is no preview: ${failure}`}</p>
  if (!pdf) return <p className={classes.note}>Loading the preview…</p>
  const pages = pdf.numPages
  const turn = (to: number) => setNumber(Math.min(pages, Math.max(1, to)))
  return (
    <>
      <div className={classes.turner}>
        <ActionIcon aria-label="Previous page" disabled={number === 1} onClick={() => turn(number - 1)}>
          <IconChevronLeft size={16} />
        </ActionIcon>
        <span aria-live="polite">{`Page ${number} of ${pages}`}</span>
        <ActionIcon aria-label="Next page" disabled={number === pages} onClick={() => turn(number + 1)}>
          <IconChevronRight size={16} />
        </ActionIcon>
      </div>
      <Page pdf={pdf} number={number} label={`Page ${number} of ${name}`} onBroken={setFailure} />
    </>
  )
}

/** The pixels across a page, twice as many as a wide window shows. */
const pixelsAcross = 1400

interface PageProps {
  readonly pdf: Pdf
  readonly number: number
  readonly label: string
  readonly onBroken: (reason: string) => void
}

function Page({ pdf, number, label, onBroken }: PageProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    let cancel: (() => void) | undefined
    let isLeft = false
    void (async () => {
      try {
        const page = await pdf.getPage(number)
        const target = canvas.current
        if (isLeft || !target) return
        const natural = page.getViewport({ scale: 1 })
        const viewport = page.getViewport({ scale: pixelsAcross / Math.max(natural.width, natural.height / 2) })
        target.width = Math.round(viewport.width)
        target.height = Math.round(viewport.height)
        const task = page.render({ canvas: target, viewport })
        cancel = () => task.cancel()
        await task.promise
      } catch (error) {
        if (!isLeft) onBroken(failureOf(error))
      }
    })()
    return () => {
      isLeft = true
      cancel?.()
    }
  }, [pdf, number, onBroken])
  return (
    <canvas ref={canvas} className={classes.canvas}>
      {label}
    </canvas>
  )
}

function failureOf(error: unknown): string {
  const isLocked = error instanceof Error && error.name === 'PasswordException'
  return isLocked ? 'the file is protected with a password.' : 'the file is damaged, or not a PDF that can be shown.'
}
