-- Creates Tollgate's role and database, for psql 14 or newer as an administrator, with the role's password in the environment:
--   DATABASE_PASSWORD=… psql "postgres://postgres@db.example.com/postgres" --file scripts/create-database.sql
\getenv password DATABASE_PASSWORD
create role tollgate login createrole password :'password';
create database tollgate owner tollgate;
