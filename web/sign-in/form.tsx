/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Action } from './action.ts'
import type { Refused } from './api.ts'
import { span } from './seconds.ts'

interface FormProps {
  readonly action: Action
  readonly onSubmit: () => Promise<void>
  /** The label of the button. */
  readonly submit: string
  readonly children?: ComponentChildren
  /** Below the button. */
  readonly after?: ComponentChildren
  /** Why another action on the same fields failed. */
  readonly otherRefusal?: Refused | undefined
}

/** A form that keeps what was typed, and moves the focus to the field at fault. */
export function Form({ action, onSubmit, submit, children, after, otherRefusal }: FormProps) {
  const form = useRef<HTMLFormElement>(null)
  const refusal = action.refusal ?? otherRefusal
  // Also if only the form of a step is replaced.
  useEffect(() => form.current?.querySelector<HTMLElement>('[data-autofocus]')?.focus(), [])
  useEffect(() => {
    if (refusal === undefined) return
    const atFault = form.current?.querySelector<HTMLInputElement>('[aria-invalid=true]')
    const field = atFault ?? form.current?.querySelector<HTMLInputElement>('[data-retry]')
    field?.focus()
    field?.select()
  }, [refusal])
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        action.run(onSubmit)
      }}
    >
      {children}
      <Alert refusal={refusal} />
      <Button action={action} isPrimary>
        {submit}
      </Button>
      {after}
    </form>
  )
}

/** The fields show the refusals of their own values. */
export function Alert({ refusal }: { readonly refusal: Refused | undefined }) {
  const isOfField = refusal?.field !== undefined
  return <div role="alert">{refusal && !isOfField && <p class="alert">{refusal.message}</p>}</div>
}

interface ButtonProps {
  readonly action: Action
  readonly children: ComponentChildren
  readonly isPrimary?: boolean
  /** Without it, the button submits its form. */
  readonly onClick?: () => Promise<void>
}

/** A button that stays focused while its action runs, and shows how long to wait. */
export function Button({ action, children, isPrimary = false, onClick }: ButtonProps) {
  const { busy, wait, run } = action
  return (
    <button
      type={onClick ? 'button' : 'submit'}
      class={isPrimary ? 'button primary' : 'button'}
      aria-disabled={busy || wait > 0}
      aria-busy={busy}
      onClick={onClick && (() => run(onClick))}
    >
      {wait > 0 ? `Try again in ${span(wait)}` : children}
    </button>
  )
}
