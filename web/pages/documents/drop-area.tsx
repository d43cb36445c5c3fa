import { Button } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { useEffect, useRef, useState, type DragEvent, type ReactNode } from 'react'
import { useKey } from '../../components/keys.ts'
import classes from './documents.module.css'

interface DropAreaProps {
  /** Whether several files are accepted at once. */
  readonly several: boolean
  readonly onFiles: (files: readonly File[]) => void
  /** Renders the area, given the button that opens the file picker. */
  readonly children: (button: (label: string) => ReactNode) => ReactNode
}

/** Accepts files that are dropped on it, pasted into the page, or chosen, on a phone also from its camera. */
export function DropArea({ several, onFiles, children }: DropAreaProps) {
  const input = useRef<HTMLInputElement>(null)
  const [isOver, setIsOver] = useState(false)
  useKey('n', (event) => {
    event.preventDefault()
    input.current?.click()
  })
  const take = (files: readonly File[]) => {
    if (files.length > 0) onFiles(several ? files : files.slice(0, 1))
  }
  usePasted(take)

  function drop(event: DragEvent) {
    setIsOver(false)
    if (!hasFiles(event.dataTransfer)) return
    event.preventDefault()
    take([...event.dataTransfer.files])
  }

  const button = (label: string) => (
    <>
      <Button variant="default" leftSection={<IconUpload size={15} />} onClick={() => input.current?.click()}>
        {label}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        multiple={several}
        aria-label={label}
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])]
          currentTarget.value = ''
          take(files)
        }}
      />
    </>
  )
  return (
    <div
      className={classes.area}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        if (!hasFiles(event.dataTransfer)) return
        event.preventDefault()
        setIsOver(true)
      }}
      onDragLeave={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setIsOver(false)
      }}
      onDrop={drop}
    >
      {children(button)}
    </div>
  )
}

const hasFiles = ({ types }: DataTransfer): boolean => types.includes('Files')

/** Text that is pasted into a field stays text. */
function usePasted(onFiles: (files: readonly File[]) => void): void {
  const latest = useRef(onFiles)
  useEffect(() => {
    latest.current = onFiles
  })
  useEffect(() => {
    function paste(event: ClipboardEvent) {
      const files = [...(event.clipboardData?.files ?? [])]
      if (files.length === 0 || event.defaultPrevented) return
      event.preventDefault()
      latest.current(files)
    }
    addEventListener('paste', paste)
    return () => removeEventListener('paste', paste)
  }, [])
}
