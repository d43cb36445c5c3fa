-- The rows of the audit log are numbered across the firm. The activity of one client shows these numbers encrypted, so that
-- the gaps do not reveal other activity. The key is created here and copied with the database.
create table number_key (key bytea not null check (length(key) = 16));
insert into number_key
  values (substring(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())) from 1 for 16));

create function number_key() returns text language sql stable security definer set search_path from current as
  $$ select encode(key, 'hex') from number_key $$;
revoke execute on function number_key() from public;
do $$
begin
  execute format('grant execute on function number_key() to %I, %I', portal_role('consultant'), portal_role('partner'));
end $$;
