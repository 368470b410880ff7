package launch

import "os"

// CheapPasswords has every program that is started from now on hash passwords at next to no
// cost: for a TestMain whose tests log in thousands of times and are about something else.
func CheapPasswords() {
	for name, value := range map[string]string{"ROTALOOM_PASSWORD_MEMORY": "64", "ROTALOOM_PASSWORD_TIME": "1"} {
		if err := os.Setenv(name, value); err != nil {
			panic(err) // Only a name that is none.
		}
	}
}
