import { Button, Loader, VisuallyHidden } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { numberText } from '../locale.ts'

interface ShowMoreProps {
  /** The number of rows shown. */
  readonly shown: number
  /** The number of all rows, if it is known. */
  readonly total?: string
  readonly hasMore: boolean
  /** Adds the next rows. Never rejects. */
  readonly onMore: () => Promise<void>
  /** Default: `Show more`. */
  readonly label?: string
}

/** What was there when the button was pressed. */
interface Before {
  readonly parent: Element
  readonly items: ReadonlySet<Element>
}

/**
 * The button below a list that shows more of it. The first new row gets the focus, unless the focus has moved elsewhere,
 * and the number of rows is announced.
 */
export function ShowMore({ shown, total, hasMore, onMore, label = 'Show more' }: ShowMoreProps) {
  const button = useRef<HTMLButtonElement>(null)
  const before = useRef<Before>(undefined)
  const [shownBefore, setShownBefore] = useState<number>()
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    if (busy || !before.current) return
    if (isFocusIn(button.current)) focusFirstNew(before.current)
    before.current = undefined
  }, [busy])

  async function more(parent: Element | null) {
    if (busy || !parent) return
    before.current = { parent, items: new Set(itemsOf(parent)) }
    setShownBefore(shown)
    setBusy(true)
    await onMore()
    setBusy(false)
  }

  const isLonger = !busy && shownBefore !== undefined && shown > shownBefore
  return (
    <>
      {hasMore && (
        <Button
          ref={button}
          variant="default"
          fullWidth
          mt="md"
          // `loading` disables the button, which would lose the focus.
          aria-disabled={busy || undefined}
          leftSection={busy && <Loader size={14} aria-hidden />}
          onClick={({ currentTarget }) => void more(currentTarget.parentElement)}
        >
          {label}
        </Button>
      )}
      <VisuallyHidden aria-live="polite">{isLonger && shownText(shown, total)}</VisuallyHidden>
    </>
  )
}

const shownText = (shown: number, total: string | undefined): string =>
  total === undefined ? `${numberText(shown)} shown` : `${numberText(shown)} of ${total} shown`

/** Whether the focus is still on the button; or on nothing, as after a click in Safari and once the button is gone. */
const isFocusIn = (button: Element | null): boolean =>
  document.activeElement === button || document.activeElement === document.body

const itemsOf = (parent: Element): HTMLElement[] => [...parent.querySelectorAll<HTMLElement>('tbody tr, li')]

function focusFirstNew({ parent, items }: Before): void {
  const item = itemsOf(parent).find((each) => !items.has(each))
  if (!item) return
  const link = item.querySelector<HTMLElement>('[data-row]')
  if (!link) item.tabIndex = -1
  const target = link ?? item
  target.focus()
}
