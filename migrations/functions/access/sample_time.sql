-- The demo's samples are entered with past dates (`tollgate.time`). After the first sign-in this has no effect: every
-- time in records and in the log is the time of this clock.
create or replace function sample_time() returns timestamptz language plpgsql security definer set search_path from current as $$
begin
  if exists (select from person where last_signed_in_at is not null) then
    raise exception 'only samples are entered with a time of their own, before anybody signs in'
      using errcode = 'insufficient_privilege';
  end if;
  return least(current_setting('tollgate.time')::timestamptz, clock_timestamp());
end $$;
