module landfall.example/judge

go 1.22
