-- Notes that an instance lives and has sent a batch. Locks its row until the transaction ends. Raises TG001 if the instance was reaped, or
-- if the batch came before: then nothing of it may be written.
create or replace function note_batch(p_instance uuid, p_batch bigint) returns void
language plpgsql
set search_path from current
as $$
begin
  update instance set seen_at = clock_timestamp(), last_batch = p_batch where id = p_instance and last_batch < p_batch;
  if not found then
    raise exception 'instance % was reaped, or has sent batch % before', p_instance, p_batch using errcode = 'TG001';
  end if;
end $$;
