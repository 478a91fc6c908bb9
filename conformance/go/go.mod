module lockstep/conformance/go

go 1.23
