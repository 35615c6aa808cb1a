/* train_fields.h - the rows of the table of train_gpt's settings, with the meaning of each setting.
 *
 * train_settings.c includes this file inside two arrays: once for the table of heed/config.h, and
 * once for the texts of --help-settings and of the man page train_gpt-settings(5). So it has no
 * include guard. The columns are the field of the struct `settings`, its default, the bounds of a
 * number or the names of the choices, whether a resumed run may change the setting (FREE) or not
 * (FIXED), and the meaning in whole sentences. */

/* clang-format off */
STRING(out, "", FIXED,
       "The directory of the run. Directories above it are made if they do not exist. If the name "
       "is empty, the run takes the first free name of gpt-1, gpt-2 and so on."),

STRING(data.text, "", FREE,
       "The text to learn: a UTF-8 file in any script, or a directory, of which the program takes "
       "all .c and .h files, also those of its subdirectories. If the name is empty, the text is "
       "heed's own sources. A resumed run may read the text from another place, but the text must "
       "be the same."),
ENUM(data.tokenizer, "chars", "chars|bytes|bpe", FIXED,
     "The kind of tokens. With chars a token is a character of the text, with bytes a byte, and with "
     "bpe a piece of GPT-2's vocabulary."),
STRING(data.vocab, "", FIXED, "GPT-2's file vocab.json, which bpe needs."),
STRING(data.merges, "", FIXED, "GPT-2's file merges.txt, which bpe needs."),
DOUBLE(data.train_fraction, 0.9, 0.01, 0.99, FIXED,
       "The share of the text, from its beginning on, that the model learns. The rest is for the "
       "validation loss."),

INT(model.context_length, 64, 1, 1 << 20, FIXED,
    "The number of tokens that the model sees at most, and the length of each sequence in "
    "training."),
INT(model.emb_dim, 96, 1, 1 << 16, FIXED,
    "The number of components of the vector that stands for a token. It must be a multiple of "
    "model.n_heads."),
INT(model.n_heads, 4, 1, 1024, FIXED, "The number of attention heads in each layer."),
INT(model.n_layers, 3, 1, GPT_MOST_LAYERS, FIXED,
    "The number of layers, which are transformer blocks."),
DOUBLE(model.drop_rate, 0, 0, 1, FIXED,
       "The probability with which dropout sets a number to 0 in training. It acts on the "
       "embeddings, on the attention weights, and on the output of each half of a layer."),
BOOL(model.qkv_bias, false, FIXED,
     "Whether the linear maps to queries, keys and values add a bias."),

INT(train.steps, 1000, 1, 1e9, FREE,
    "The number of steps. A step changes the weights once. A resumed run may change the number "
    "only if train.schedule is constant, because a cosine is made for its number of steps."),
INT(train.batch_size, 16, 1, 1 << 20, FIXED,
    "The number of sequences in a batch. Under mpirun the ranks share it, so it must be a multiple "
    "of their number."),
INT(train.accumulate, 1, 1, 1 << 20, FREE,
    "The number of batches in a step, which takes the mean of their gradients. Two batches have "
    "the effect of one of twice the size, but need the memory of one."),
INT(train.stride, 0, 0, 1 << 20, FIXED,
    "The number of tokens from the start of one sequence to the start of the next. 0 stands for "
    "model.context_length, with which the sequences do not overlap."),
DOUBLE(train.lr, 2e-3, 0, 10, FIXED,
       "The learning rate of AdamW. The cosine schedule reaches it after its warm-up."),
ENUM(train.schedule, "cosine", "constant|cosine", FIXED,
     "How the learning rate changes. With constant it stays as it is. With cosine it rises from "
     "near 0 to train.lr during the warm-up, and then falls along half a cosine to "
     "train.min_lr."),
INT(train.warmup_steps, -1, -1, 1e9, FIXED,
    "The number of steps of the cosine schedule's warm-up, which must be less than train.steps. "
    "-1 stands for a twentieth of train.steps, but at most 50."),
DOUBLE(train.min_lr, 1e-4, 0, 10, FIXED,
       "The learning rate at the end of the cosine schedule."),
DOUBLE(train.weight_decay, 0.1, 0, 10, FIXED,
       "The weight decay of AdamW. Each step takes this share, times the learning rate, away from "
       "every weight."),
DOUBLE(train.clip_norm, 1, 0, 1e9, FREE,
       "The largest norm that the gradient of all weights together may have. A longer gradient is "
       "scaled down to it. 0 turns this off."),
INT(train.eval_every, 100, 1, 1e9, FREE,
    "The number of steps from one measurement of the validation loss to the next. The loss is "
    "also measured after the last step."),
INT(train.eval_batches, 20, 1, 1e9, FREE,
    "The number of batches of one such measurement, from the beginning of the validation text. If "
    "the text has fewer, all of them are taken."),
INT(train.save_every, 100, 1, 1e9, FREE,
    "The number of steps from one checkpoint to the next. The run is also saved when the "
    "validation loss is the least so far, and when the run ends or is stopped. The newest "
    "checkpoint and the best one are kept."),
INT(train.sample_every, 500, 0, 1e9, FREE,
    "The number of steps from one printed sample to the next. With 0 the run prints one sample, "
    "at its end."),
INT(train.report_every, 25, 1, 1e9, FREE,
    "The number of steps from one printed line to the next, if the output goes to a pipe or a "
    "file, or if NO_COLOR is set. On a terminal, a progress bar shows every step. Steps with a "
    "validation loss always have a line."),
BOOL(train.tensorboard, false, FREE,
     "Whether the run also writes event files, which TensorBoard shows: the losses, the learning "
     "rate and the epoch of each step."),
BOOL(train.shard_optimizer, false, FREE,
     "Whether, under mpirun, each rank keeps AdamW's averages for a part of the weights only, which "
     "takes less memory. The results are the same, bit for bit."),
INT(train.seed, 123, -1e15, 1e15, FIXED,
    "The seed of the first weights, of the order of the sequences, of dropout and of the samples. "
    "Under mpirun, the dropout of rank r has the seed train.seed + r."),

STRING(sample.prompt, "", FREE,
       "The text that samples continue. If it is empty, they continue the first words of the text, "
       "or \"static \" if the text is heed's own sources."),
INT(sample.length, 400, 0, 1e9, FREE, "The number of tokens in a sample, without the prompt."),
DOUBLE(sample.temperature, 0.8, 0, 100, FREE,
       "The number by which the logits are divided before a token is drawn. With 1 the tokens have "
       "the model's probabilities. Below 1 likely tokens come more often, and above 1 unlikely "
       "ones do. With 0 the likeliest token is taken."),
INT(sample.top_k, 0, 0, 1e9, FREE,
    "The number of the likeliest tokens from which one is drawn. 0 stands for all tokens."),
DOUBLE(sample.top_p, 1, 0, 1, FREE,
       "The probability that the likeliest tokens must have together; a token is drawn from as few "
       "of them as have it, and from one at least. 1 stands for all tokens."),
    /* clang-format on */
