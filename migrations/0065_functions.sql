-- The functions of this version are in `functions`, by feature, and are applied after these files whenever their text has changed.
-- This is the text that was applied.
create table sql_function (
  name     text primary key,
  -- The SHA-256 of its file.
  checksum text not null
);
