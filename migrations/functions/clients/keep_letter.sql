-- Approvals and times come from the transaction: no statement may set them. A sent letter can only be archived and restored, and goes when
-- its client is erased.
create or replace function keep_letter() returns trigger language plpgsql set search_path from current as $$
declare
  -- What archiving changes. Generated columns have no value yet.
  v_archiving constant text[] := array['version', 'updated_at', 'updated_by', 'archived_at', 'search'];
  v_was letter;
begin
  if tg_op <> 'INSERT' then v_was := old; end if;
  if tg_op = 'DELETE' and erasure_is_due(v_was.client_id) then return old; end if;
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
    if not may_approve_letter(new.id, (new.subject, new.body) is distinct from (v_was.subject, v_was.body)) then
      raise exception 'the rule of the firm does not let this person approve the letter' using errcode = 'TG010', column = 'status';
    end if;
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
