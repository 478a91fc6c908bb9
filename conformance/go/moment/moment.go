// Package moment reads times (certificate.md, TIME-1).
package moment

// Day is the length of a day in seconds.
const Day = 86400

var monthDays = [...]int64{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// Parse gives the seconds from 0001-01-01T00:00:00Z to a time of [TIME-1], or false if s is none.
func Parse(s string) (int64, bool) {
	const form = "0000-00-00T00:00:00Z"
	if len(s) != len(form) {
		return 0, false
	}
	for i := range len(form) {
		if form[i] == '0' {
			if s[i] < '0' || s[i] > '9' {
				return 0, false
			}
		} else if s[i] != form[i] {
			return 0, false
		}
	}
	year, month, day := number(s[0:4]), number(s[5:7]), number(s[8:10])
	hour, minute, second := number(s[11:13]), number(s[14:16]), number(s[17:19])
	if year < 1 || month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	leap := int64(0)
	if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		leap = 1
	}
	length := monthDays[month-1]
	if month == 2 {
		length += leap
	}
	if day < 1 || day > length {
		return 0, false
	}
	past := year - 1
	days := past*365 + past/4 - past/100 + past/400 + day - 1
	for m := int64(1); m < month; m++ {
		days += monthDays[m-1]
	}
	if month > 2 {
		days += leap
	}
	return days*Day + hour*3600 + minute*60 + second, true
}

func number(digits string) int64 {
	var n int64
	for _, c := range digits {
		n = n*10 + int64(c-'0')
	}
	return n
}
