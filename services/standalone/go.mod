module github.com/rotaloom/rotaloom/services/standalone

go 1.26.0

replace github.com/rotaloom/rotaloom/proto => ../../proto

require (
	github.com/rotaloom/rotaloom/gateway v0.0.0-00010101000000-000000000000
	github.com/rotaloom/rotaloom/pkg v0.0.0-00010101000000-000000000000
	github.com/rotaloom/rotaloom/proto v0.0.0-00010101000000-000000000000
	github.com/rotaloom/rotaloom/services/auth v0.0.0-00010101000000-000000000000
	github.com/rotaloom/rotaloom/services/commons v0.0.0-00010101000000-000000000000
	github.com/rotaloom/rotaloom/services/scheduling v0.0.0-00010101000000-000000000000
	github.com/rotaloom/rotaloom/services/timekeeping v0.0.0-00010101000000-000000000000
)

replace github.com/rotaloom/rotaloom/pkg => ../../pkg

replace github.com/rotaloom/rotaloom/gateway => ../../gateway

replace github.com/rotaloom/rotaloom/services/auth => ../../services/auth

replace github.com/rotaloom/rotaloom/services/commons => ../../services/commons

replace github.com/rotaloom/rotaloom/services/timekeeping => ../../services/timekeeping

replace github.com/rotaloom/rotaloom/services/scheduling => ../../services/scheduling
