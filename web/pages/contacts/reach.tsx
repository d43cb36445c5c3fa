import { Fragment } from 'react'
import type { Contact } from '../../../src/clients/schema.ts'
import { EmailLink } from '../../components/email-link.tsx'
import { contactLanguageNames } from '../../words.ts'

/** The job title of a contact, and how to reach them: `Head of accounts · maria@… · +44 1872 555 0146 · Portuguese`. */
export function Reach({ contact: { job_title: title, email, phone, language } }: { readonly contact: Contact }) {
  const parts = [
    title !== null && <bdi key="title">{title}</bdi>,
    email !== null && <EmailLink key="email" email={email} />,
    phone !== null && <PhoneLink key="phone" phone={phone} />,
    language !== null && <span key="language">{contactLanguageNames[language]}</span>,
  ].filter((part) => part !== false)
  return parts.map((part, index) => (
    <Fragment key={part.key}>
      {index > 0 && ' · '}
      {part}
    </Fragment>
  ))
}

/** A link only if all of it is dialled: `ext. 12` is not (RFC 3966). */
function PhoneLink({ phone }: { readonly phone: string }) {
  const digits = phone.replaceAll(/[\s().\-/]/g, '')
  return /^\+?\d{3,15}$/.test(digits) ? (
    <a href={`tel:${digits}`}>
      <bdi dir="ltr">{phone}</bdi>
    </a>
  ) : (
    <bdi>{phone}</bdi>
  )
}
