/** A long address breaks after the @ first. */
export function EmailLink({ email }: { readonly email: string }) {
  const at = email.lastIndexOf('@') + 1
  return (
    <a href={`mailto:${encodeURIComponent(email)}`}>
      <bdi dir="ltr">
        {email.slice(0, at)}
        <wbr />
        {email.slice(at)}
      </bdi>
    </a>
  )
}
