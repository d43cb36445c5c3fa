-- A mail has the file of a letter that was sent, and goes to the address that the client or one of its contacts has now. It never changes,
-- and goes when its client is erased.
create or replace function keep_letter_mail() returns trigger language plpgsql set search_path from current as $$
declare
  v_address text;
begin
  if tg_op = 'DELETE' and erasure_is_due(old.client_id) then return old; end if;
  if tg_op <> 'INSERT' then
    raise exception 'a mail that was sent is neither changed nor taken away' using errcode = 'insufficient_privilege';
  end if;
  new.digest := (select f.digest from letter l join letter_file f on f.letter_id = l.id
    where l.id = new.letter_id and l.client_id = new.client_id and l.status = 'sent' and l.archived_at is null);
  if new.digest is null then
    raise exception 'only a letter that is sent is mailed' using errcode = 'TG003';
  end if;
  if new.contact_id is null then
    select name, email into new.name, v_address from client where id = new.client_id;
  else
    select name, email into new.name, v_address from contact
      where id = new.contact_id and client_id = new.client_id and archived_at is null;
  end if;
  if new.recipient is distinct from v_address then
    raise exception 'a letter is mailed to an address of its record' using errcode = 'TG009', column = 'to';
  end if;
  return new;
end $$;
create or replace trigger kept before insert or update or delete on letter_mail for each row execute function keep_letter_mail();
create or replace trigger not_emptied before truncate on letter_mail for each statement execute function refuse_change();
