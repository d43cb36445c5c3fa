-- Keeps what a key was issued as: its account and the hash of its secret.
create or replace function keep_issue() returns trigger language plpgsql set search_path from current as $$
begin
  insert into key_issue (key_id, account_id, secret_hash) values (new.id, new.account_id, new.secret_hash);
  return null;
end $$;
