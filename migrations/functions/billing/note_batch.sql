-- Notes that an instance lives and has sent a batch, with as many charges to append. Locks its row until the transaction ends. Returns its
-- number. Raises TG001 if the instance was reaped, or if the batch came before: then nothing of it may be written.
create or replace function note_batch(p_instance uuid, p_batch bigint, p_charges integer default 0, p_at timestamptz default null)
returns integer
language plpgsql
set search_path from current
as $$
declare
  v_number integer;
begin
  update instance set seen_at = clock_timestamp(), last_batch = p_batch, appended = appended + p_charges,
    appended_since = case p_charges when 0 then appended_since else least(appended_since, p_at) end
  where id = p_instance and last_batch < p_batch returning number into v_number;
  if v_number is null then
    raise exception 'instance % was reaped, or has sent batch % before', p_instance, p_batch using errcode = 'TG001';
  end if;
  return v_number;
end $$;
drop function if exists note_batch(uuid, bigint);
