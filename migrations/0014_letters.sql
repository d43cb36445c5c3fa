-- Postal addresses of clients. Letters: who approved them and when they were sent, and new versions of them. Nobody changes
-- a letter once it is sent.

alter table client add column address text check (length(address) between 1 and 500);

alter table letter
  add column approved_at timestamptz(3),
  add column approved_by uuid references person,
  add column sent_at     timestamptz(3),
  -- The name and the address that it was sent to, and the name of its author, as they were then.
  add column recipient   text,
  add column author      text,
  -- The letter that this is a new version of.
  add column previous_id uuid references letter;

-- Approvals and times come from the transaction: no statement may set them. A sent letter can only be archived and restored.
create function keep_letter() returns trigger language plpgsql set search_path from current as $$
declare
  -- What archiving changes. Generated columns have no value yet.
  v_archiving constant text[] := array['version', 'updated_at', 'updated_by', 'archived_at', 'search'];
  v_was letter;
begin
  if tg_op <> 'INSERT' then v_was := old; end if;
  if v_was.status = 'sent' then
    if tg_op = 'DELETE' or new.archived_at is not distinct from v_was.archived_at
      or to_jsonb(new) - v_archiving <> to_jsonb(v_was) - v_archiving then
      raise exception 'a sent letter cannot be changed' using errcode = 'TG004', column = case
        when tg_op = 'DELETE' then 'status' when new.subject <> v_was.subject then 'subject'
        when new.body <> v_was.body then 'body' else 'status' end;
    end if;
    return new;
  end if;
  if tg_op = 'DELETE' then return old; end if;
  if new.previous_id is not null
    and not exists (select from letter where id = new.previous_id and client_id = new.client_id) then
    raise exception 'a version belongs to the client of its letter' using errcode = 'TG003';
  end if;
  -- An approval is of one text.
  if v_was.status = 'approved' and (new.subject, new.body) is distinct from (v_was.subject, v_was.body) then
    v_was.status := 'draft';
    if new.status = 'approved' then new.status := 'draft'; end if;
  end if;
  if new.status = 'draft' then
    new.approved_at := null;
    new.approved_by := null;
  elsif v_was.status = 'approved' then
    new.approved_at := v_was.approved_at;
    new.approved_by := v_was.approved_by;
  else
    new.approved_at := record_time();
    new.approved_by := portal_person();
  end if;
  if new.status = 'sent' then
    new.sent_at := record_time();
    new.recipient := (select concat_ws(E'\n', name, address) from client where id = new.client_id);
    new.author := (select name from person where id = new.created_by);
  else
    new.sent_at := null;
    new.recipient := null;
    new.author := null;
  end if;
  return new;
end $$;
create trigger kept before insert or update or delete on letter for each row execute function keep_letter();
create trigger not_emptied before truncate on letter for each statement execute function refuse_change();

do $$
declare
  v_roles text := portal_role('consultant') || ', ' || portal_role('partner');
begin
  execute 'grant insert (address), update (address) on client to ' || v_roles;
  execute 'grant insert (previous_id) on letter to ' || v_roles;
end $$;
