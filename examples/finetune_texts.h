/* finetune_texts.h - the small tables of texts on which finetune trains. The model is not trained
 * on the last quarter of each table, which shows how well it does with new texts. */
#ifndef HEED_EXAMPLES_FINETUNE_TEXTS_H
#define HEED_EXAMPLES_FINETUNE_TEXTS_H

enum { MESSAGES = 60, INSTRUCTIONS = 24 };

/* Each row is an ordinary message (class 0) and an offer (class 1). */
static const char *const messages[MESSAGES / 2][2] = {
    {"The train is late, I will be home at seven.", "WIN a new phone! Text PRIZE to 80123 now!"},
    {"Can you bring the blue folder tomorrow?", "Free entry! Claim your 500 dollar voucher!"},
    {"Mother asks if you want soup or rice.", "You were chosen! Call 0900 5512 for cash!"},
    {"I left the keys under the flower pot.", "Cheap loans in 5 minutes! Reply YES now!"},
    {"Thank you for the lovely evening.", "Last chance! 70% off all watches, order now!"},
    {"The meeting is in room four, tell Anna.", "You won 2 free tickets! Text GO to 4433!"},
    {"Did you find the book I told you about?", "Hot deal! 3 months of films for 1 dollar!"},
    {"My brother has a cold and stays in bed.", "URGENT! Your prize waits, call 0800 777 now!"},
    {"Let us walk to the lake if the rain stops.", "Earn 300 dollars a day! Text WORK to 61616!"},
    {"The cat slept on your coat again, sorry.", "Get a FREE ringtone! Reply TONE to 8007!"},
    {"I read your letter twice and it is lovely.", "Special offer! Buy 1 get 2 free, order now!"},
    {"Please water the plants while we are away.", "Lucky winner! Send your name to 70700 now!"},
    {"The dentist can see you on Monday.", "Holiday for 2 at 99 dollars! Call 0900 1234!"},
    {"Are you still at school or on the way home?", "Claim your gift card NOW! Text GIFT to 5050!"},
    {"We forgot the milk, could you buy some?", "Lose 10 kilos in 2 weeks! Free sample today!"},
    {"Grandfather tells that story every winter.", "Guaranteed cash! Reply CASH to 8866 now!"},
    {"The bus was full, so we took the next one.", "A credit card with 0% interest, apply now!"},
    {"I like the second song more than the first.", "WINNER! Get 1,000 bonus points, call 0800!"},
    {"Her sister plays the piano in the evening.", "Double your money! Text RICH to 90909 now!"},
    {"Shall I book a table for six or for eight?", "Free trial! 30 days of games, join today!"},
    {"The window in the kitchen does not close.", "You have 1 new prize! Call 0900 8080 today!"},
    {"He will send the photos when he is back.", "Sale! 80% off shoes today only, order now!"},
    {"It snowed all night and the road is white.", "Your mobile won! Text CLAIM to 7575 now!"},
    {"I am waiting at the corner near the bakery.", "100 free minutes! Reply MORE to 3030 today!"},
    {"Could you call me when the doctor is gone?", "Cash prize! Send WIN to 4545 and collect!"},
    {"The children are asleep, come in quietly.", "FREE camera with each order! Call 0800 1919!"},
    {"We meet at the library after lunch.", "Claim 2 nights in a hotel for 9 dollars now!"},
    {"I have not seen that film, is it good?", "Act now! A loan of 8,000 dollars, reply LOAN!"},
    {"The bread is still warm, come and have some.", "Text STAR to 81818 and win a car today!"},
    {"My answer is yes, but let me ask my wife.", "Big offer! 50% off phones, order 1 today!"},
};

/* An instruction asks for the opposite, the plural or the past tense of the first word of a pair.
 * The second word is the answer. */
static const char *const ways[3] = {"opposite", "plural", "past tense"};
static const char *const changes[INSTRUCTIONS / 3][3][2] = {
    {{"hot", "cold"}, {"tree", "trees"}, {"walk", "walked"}},
    {{"big", "small"}, {"child", "children"}, {"go", "went"}},
    {{"early", "late"}, {"box", "boxes"}, {"play", "played"}},
    {{"open", "closed"}, {"city", "cities"}, {"see", "saw"}},
    {{"young", "old"}, {"mouse", "mice"}, {"eat", "ate"}},
    {{"dark", "light"}, {"leaf", "leaves"}, {"sing", "sang"}},
    {{"slow", "fast"}, {"dog", "dogs"}, {"jump", "jumped"}},
    {{"rich", "poor"}, {"woman", "women"}, {"run", "ran"}},
};

#endif
