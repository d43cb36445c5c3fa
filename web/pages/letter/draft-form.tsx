import { Alert, Button, Group, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { IconSparkles } from '@tabler/icons-react'
import { useEffect, useRef, useState, type KeyboardEvent, type SubmitEvent } from 'react'
import { Link } from 'react-router'
import type { ApiError } from '../../api.ts'
import { isCancel } from '../../components/cancel-key.ts'
import { Choice } from '../../components/choice.tsx'
import { confirm } from '../../components/confirm.tsx'
import { useUnsaved } from '../../components/unsaved.tsx'
import { content } from '../../content.ts'
import { modelText } from '../../words.ts'
import { SourceChoice } from './source-choice.tsx'
import classes from './drafting.module.css'
import { defaultFor } from './default-template.ts'
import { languages, styleIn, tones, withStyle, type Style } from './style.ts'
import { useTemplates } from './use-templates.ts'
import type { DraftRequest, Template } from './wire.ts'

export interface DraftFormProps {
  readonly initial: DraftRequest
  readonly submitLabel: string
  readonly error: ApiError | undefined
  readonly isShown: boolean
  /** Whether the server has the request. */
  readonly isSent: boolean
  readonly onSubmit: (request: DraftRequest) => void
  readonly onCancel: () => void
}

/** The form that instructs a model and selects its sources. */
export function DraftForm({ initial, submitLabel, error, isShown, isSent, onSubmit, onCancel }: DraftFormProps) {
  const arrived = useTemplates()
  const templates = arrived ?? []
  /** The default template fills the field of a first draft. Until it has arrived, it would mix with what is typed. */
  const isWaiting = arrived === undefined && initial.instructions === ''
  const suggested = initial.instructions || (defaultFor(initial, templates)?.instructions ?? '')
  const { text, language, tone } = styleIn(suggested)
  const [changes, setChanges] = useState<Partial<DraftRequest & Style>>({})
  const start = { ...initial, instructions: text, language, tone }
  const request = { ...start, ...changes }
  const form = useRef<HTMLFormElement>(null)
  const wait = useWait(error)
  const isChanged = JSON.stringify(request) !== JSON.stringify(start)
  const { settle } = useUnsaved(isChanged && !isSent, {})
  const set = (more: Partial<DraftRequest & Style>) => setChanges((before) => ({ ...before, ...more }))
  const template = templateChoice(templates, request.instructions, (instructions) => set({ instructions }))
  useEffect(() => {
    if (isShown) form.current?.querySelector<HTMLElement>('textarea')?.focus()
  }, [isShown])
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid=true], [type=submit]')?.focus()
  }, [error])

  function submit(event: SubmitEvent) {
    event.preventDefault()
    // A read-only field may be empty.
    if (wait > 0 || isWaiting) return
    const subject = request.subject?.trim()
    const { subject: _, language: inLanguage, tone: inTone, ...rest } = request
    const instructions = withStyle(request.instructions, { language: inLanguage, tone: inTone })
    onSubmit({ ...rest, instructions, ...(subject ? { subject } : {}) })
  }
  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.current?.requestSubmit()
    if (isCancel(event) && !isChanged) onCancel()
  }
  const fieldError = (name: string) => (error?.refusal.field === name ? error.reasonAtField : undefined)

  return (
    <form ref={form} className={classes.form} aria-label="Draft a letter" onSubmit={submit} onKeyDown={onKeyDown}>
      <div className={classes.fields}>
        {template.options.length > 0 && (
          <Choice
            label="Template"
            data={template.options}
            nothingFoundMessage="No template has this name"
            value={template.value}
            onChange={(id) => void template.choose(id)}
            description={<Link to="/templates">The firm’s templates</Link>}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
          />
        )}
        <TextInput
          label="Subject"
          placeholder="Chosen for you if you leave it empty"
          value={request.subject ?? ''}
          maxLength={300}
          error={fieldError('subject')}
          onChange={({ currentTarget }) => set({ subject: currentTarget.value })}
        />
      </div>
      <Textarea
        label="What should the letter say?"
        placeholder={
          isWaiting
            ? 'The firm’s template is loading …'
            : 'Write to the client that we accept their objection to the invoice, and ask for …'
        }
        value={request.instructions}
        readOnly={isWaiting}
        required
        withAsterisk={false}
        error={fieldError('instructions')}
        onChange={({ currentTarget }) => set({ instructions: currentTarget.value })}
        autosize
        minRows={5}
        maxRows={16}
      />
      <div className={classes.fields}>
        <Choice
          label="Language"
          data={[unsaid, ...languages.map((each) => ({ value: each, label: each }))]}
          nothingFoundMessage="No language has this name"
          value={request.language}
          onChange={(chosen) => set({ language: chosen })}
        />
        <NativeSelect
          label="Tone"
          data={[unsaid, ...tones.map((each) => ({ value: each, label: capital(each) }))]}
          value={request.tone}
          onChange={({ currentTarget }) => set({ tone: currentTarget.value })}
        />
      </div>
      <SourceChoice
        notes={request.notes}
        disputes={request.disputes}
        documents={request.documents}
        error={fieldError('notes') ?? fieldError('disputes') ?? fieldError('documents')}
        onChange={set}
      />
      {error && <Refused error={error} wait={wait} />}
      <Group gap="xs">
        <Button type="submit" leftSection={<IconSparkles size={15} aria-hidden />} disabled={wait > 0}>
          {wait > 0 ? `Try again in ${wait} s` : submitLabel}
        </Button>
        <Button
          variant="subtle"
          color="gray"
          onClick={() => {
            settle()
            onCancel()
          }}
        >
          Cancel
        </Button>
        {content.settings?.drafting && (
          <span className={classes.hint}>{`Written by ${modelText(content.settings.drafting.model)}`}</span>
        )}
      </Group>
    </form>
  )
}

const unsaid = { value: '', label: 'As the instructions say' }

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const titles: Readonly<Record<number, string>> = {
  0: 'No response',
  402: 'The firm’s credit does not cover this letter',
  409: 'Not drafted',
  429: 'The firm’s limit is reached',
  503: 'The model is not available',
}

const ownFields = ['subject', 'instructions', 'notes', 'disputes', 'documents']

function Refused({ error, wait }: { readonly error: ApiError; readonly wait: number }) {
  if (ownFields.includes(error.refusal.field ?? '')) return null
  return (
    <Alert color="red" variant="light" role="alert" title={titles[error.status] ?? 'Not drafted'}>
      {error.message} {wait > 0 && `You can try again in ${wait} s. `}Nothing was charged, and your text is kept.
    </Alert>
  )
}

/** The seconds until the server accepts another attempt. */
function useWait(error: ApiError | undefined): number {
  const [left, setLeft] = useState(0)
  useEffect(() => {
    const until = Date.now() + (error?.retryAfter ?? 0) * 1000
    const tick = () => setLeft(Math.max(0, Math.ceil((until - Date.now()) / 1000)))
    tick()
    const timer = setInterval(tick, 500)
    return () => clearInterval(timer)
  }, [error])
  return left
}

/** The choice of a template, which replaces the instructions. */
function templateChoice(templates: readonly Template[], instructions: string, set: (instructions: string) => void) {
  const chosen = templates.find((template) => template.instructions === instructions)
  async function choose(id: string) {
    const template = templates.find((each) => each.id === id)
    const isOwn = instructions.trim() !== '' && !chosen
    const sure =
      !isOwn ||
      (await confirm({
        title: 'Replace your instructions?',
        text: 'The template replaces what you have written.',
        action: 'Replace',
      }))
    if (sure && template) set(template.instructions)
  }
  return {
    value: chosen?.id ?? '',
    options:
      templates.length === 0
        ? []
        : [
            ...(chosen ? [] : [{ value: '', label: 'Your own instructions' }]),
            ...templates.map(({ id, kind, name }) => ({ value: id, label: `${kind}: ${name}` })),
          ],
    choose,
  }
}
