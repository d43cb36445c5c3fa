-- Locks a draft. Returns null, or why not: unknown; was_issued; was_void; or stale, if it has another version.
create or replace function lock_invoice_draft(p_id uuid, p_version integer) returns text
language plpgsql set search_path from current as $$
declare
  v_now invoice;
begin
  select * into v_now from invoice where id = p_id for no key update;
  return case when v_now.id is null then 'unknown' when v_now.state <> 'draft' then 'was_' || v_now.state
    when v_now.version <> p_version then 'stale' end;
end $$;
