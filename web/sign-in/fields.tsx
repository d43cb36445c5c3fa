/** @jsxImportSource preact */
import type { ComponentChildren, InputHTMLAttributes } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { Refused } from './api.ts'

interface FieldProps {
  readonly label: string
  readonly name: string
  readonly value: string
  readonly onValue: (value: string) => void
  /** Shown here if it is about this field. */
  readonly refusal?: Refused | undefined
  readonly hint?: string
  /** Gets the focus when the step appears. */
  readonly isFirst?: boolean
  /** Gets the focus after a refusal that is about no field. */
  readonly isRetried?: boolean
  /** Applied while the person types or pastes at the end, but not while they correct something in the middle. */
  readonly format?: (text: string) => string
}

interface NativeProps {
  /** Attributes of the input element. */
  readonly native: InputHTMLAttributes
  /** Inside the field, at its end. */
  readonly end?: ComponentChildren
}

/** A labelled field with its hint and its error. */
export function Field(props: FieldProps & NativeProps) {
  const { label, name, value, onValue, refusal, hint, isFirst = false, isRetried = false, format, native, end } = props
  const id = useId()
  const error = refusal?.field === name ? refusal.message : undefined
  const marks = { 'data-autofocus': isFirst || undefined, 'data-retry': isRetried || undefined }
  const described = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <div class="control">
        <input
          {...native}
          {...marks}
          id={id}
          name={name}
          value={value}
          onInput={({ currentTarget: { value: typed, selectionStart }, inputType }) => {
            // A password manager sends an event without a type.
            const isAtEnd = selectionStart === typed.length && !inputType?.startsWith('delete')
            onValue(format && isAtEnd ? format(typed) : typed)
          }}
          aria-invalid={error !== undefined}
          aria-describedby={described === '' ? undefined : described}
        />
        {end}
      </div>
      <div role="alert">
        {error !== undefined && (
          <p class="error" id={`${id}-error`}>
            {error}
          </p>
        )}
      </div>
    </div>
  )
}

interface EmailFieldProps extends FieldProps {
  /** The browser offers passkeys here too. */
  readonly webauthn?: boolean
  /** Shown for the person, and for their password manager. */
  readonly isFixed?: boolean
}

export function EmailField({ webauthn = false, isFixed = false, ...props }: EmailFieldProps) {
  const native = {
    type: 'email',
    inputMode: 'email',
    autocomplete: webauthn ? 'username webauthn' : 'username',
    readOnly: isFixed,
    autocapitalize: 'none',
    spellcheck: false,
  } as const
  return <Field {...props} native={native} />
}

/** Pasting is allowed, and the text can be shown. */
export function PasswordField({ isNew = false, ...props }: FieldProps & { readonly isNew?: boolean }) {
  const [isShown, setShown] = useState(false)
  const type = isShown ? { type: 'text' as const } : { type: 'password' as const }
  const native = {
    autocomplete: isNew ? 'new-password' : 'current-password',
    autocapitalize: 'none',
    autocorrect: 'off',
    spellcheck: false,
  } as const
  const toggle = (
    <button
      type="button"
      class="show"
      aria-pressed={isShown}
      aria-label="Show the password"
      onClick={() => setShown(!isShown)}
    >
      {isShown ? 'Hide' : 'Show'}
    </button>
  )
  return <Field {...props} native={{ ...type, ...native }} end={toggle} />
}

interface CodeFieldProps extends FieldProps {
  /** How many characters are shown together. */
  readonly group: number
  readonly kind: 'digits' | 'letters'
  /** Whether it arrives by mail or message, so that the browser may fill it in. */
  readonly isOneTime?: boolean
}

/** A code, shown in groups. It can be pasted as it was sent. */
export function CodeField({ group, kind, isOneTime = true, ...props }: CodeFieldProps) {
  const native = {
    type: 'text',
    inputMode: kind === 'digits' ? 'numeric' : 'text',
    autocomplete: isOneTime ? 'one-time-code' : 'off',
    autocapitalize: 'characters',
    autocorrect: 'off',
    spellcheck: false,
    class: 'code',
  } as const
  return <Field {...props} native={native} format={(text) => grouped(text, group, kind)} />
}

/** `ab12cd` in groups of 4 is `AB12-CD`; digits are separated by spaces. */
function grouped(text: string, group: number, kind: CodeFieldProps['kind']): string {
  const plain = text.toUpperCase().replace(/[\s-]/g, '')
  const parts = Array.from({ length: Math.ceil(plain.length / group) }, (_, n) =>
    plain.slice(n * group, (n + 1) * group),
  )
  return parts.join(kind === 'digits' ? ' ' : '-')
}
