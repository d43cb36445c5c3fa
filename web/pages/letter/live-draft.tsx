import { Alert, Button, CopyButton, Group, Loader } from '@mantine/core'
import { IconPlayerStop } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { Markdown } from '../../components/markdown/markdown.tsx'
import { moneyText } from '../../money.ts'
import { counted, modelText } from '../../words.ts'
import classes from './drafting.module.css'
import type { Writing } from './use-drafting.ts'
import type { Draft } from './wire.ts'

interface LiveDraftProps {
  readonly writing: Extract<Writing, { phase: 'writing' }>
  readonly onStop: () => void
}

/** The letter as it is written. */
export function LiveDraft({ writing, onStop }: LiveDraftProps) {
  const { id, model, text, startedAt, isStopping, isFollowed } = writing
  const seconds = useSeconds(startedAt)
  const canStop = id !== undefined && !isStopping
  const stopper = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    // The form that had the focus is hidden: nothing has it now, or the page as a whole.
    if (canStop && document.activeElement?.matches('body, main')) stopper.current?.focus()
  }, [canStop])
  const words = text.split(/\s+/).filter((word) => word !== '').length
  return (
    <div className={classes.live}>
      <div className={classes.progress}>
        <Loader size="xs" aria-hidden />
        <output>{progressOf(writing)}</output>
        <p className={classes.figures}>
          {[model !== undefined && `By ${modelText(model)}`, text !== '' && counted(words, 'word'), `${seconds} s`]
            .filter(Boolean)
            .join(' · ')}
        </p>
        <Button
          ref={stopper}
          variant="default"
          leftSection={<IconPlayerStop size={15} aria-hidden />}
          disabled={!canStop}
          onClick={onStop}
        >
          Stop
        </Button>
      </div>
      {isFollowed && (
        <p className={classes.hint}>
          The connection was interrupted. The letter is still being written, and appears here when it is finished.
        </p>
      )}
      <div className={classes.paper} aria-busy>
        <Markdown text={text} />
      </div>
      <p className={classes.hint}>You can leave this page. The letter is finished and saved in this record.</p>
    </div>
  )
}

function progressOf({ isStopping, isFollowed }: LiveDraftProps['writing']): string {
  if (isStopping) return 'Stopping…'
  return isFollowed ? 'The letter is being finished…' : 'Writing the letter…'
}

function useSeconds(since: number): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return Math.max(0, Math.floor((now - since) / 1000))
}

interface FailedDraftProps {
  readonly failed: Extract<Writing, { phase: 'failed' }>
  readonly onBack: () => void
}

/** What arrived of a letter that was not finished, and what it cost. */
export function FailedDraft({ failed: { reason, text, draft }, onBack }: FailedDraftProps) {
  return (
    <div className={classes.live}>
      <Alert color="red" variant="light" role="alert" title="No letter was saved">
        <p>{reason}</p>
        {draft && <p>{costOf(draft)}</p>}
      </Alert>
      {text !== '' && (
        <div className={classes.paper}>
          <Markdown text={text} />
        </div>
      )}
      <Group gap="xs">
        <Button ref={focusNow} onClick={onBack}>
          Back to the instructions
        </Button>
        {text !== '' && (
          <CopyButton value={text}>
            {({ copied, copy }) => (
              <Button variant="default" onClick={copy}>
                {copied ? 'Copied' : 'Copy this text'}
              </Button>
            )}
          </CopyButton>
        )}
      </Group>
    </div>
  )
}

/** The button that had the focus is gone. */
function focusNow(button: HTMLButtonElement | null): void {
  button?.focus()
}

function costOf({ cost, currency, output_tokens: tokens }: Draft): string {
  if (cost === null) return 'Nothing was charged.'
  return `${counted(tokens ?? 0, 'token')} ${tokens === 1 ? 'was' : 'were'} generated, which cost ${moneyText(cost, currency)}.`
}
